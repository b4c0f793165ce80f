//! Breakers cost nothing while nobody calls. Alone in its process: it counts the process's threads.
#![cfg(target_os = "linux")]

mod support;

use std::fs;

use support::{World, is_blocked, r0_with, trip};

/// Threads and open files of this process.
fn held() -> [usize; 2] {
    ["/proc/self/task", "/proc/self/fd"].map(|list| fs::read_dir(list).unwrap().count())
}

#[test]
fn ten_thousand_breakers_hold_no_thread_and_no_file() {
    let before = held();
    let world = World::new(&r0_with(&serde_json::json!({"resource": "[0-9]+", "regex": true})));
    let resources: Vec<_> = (0..10_000).map(|i| world.resource(&i.to_string())).collect();
    resources.iter().for_each(trip);
    assert!(resources.iter().all(is_blocked));
    assert_eq!(world.changes().len(), 10_000);
    assert_eq!(held(), before);
}
