//! Lives of random bytes. `TRIPCOIL_RANDOM_SECONDS` makes the test go on for longer than it should take.

use std::collections::HashSet;

use super::live;

/// xorshift64*: the same bytes for the same seed.
fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a long run is measured in time")]
fn whatever_is_called_is_answered() {
    let seconds = std::env::var("TRIPCOIL_RANDOM_SECONDS").ok().and_then(|text| text.parse().ok());
    let began = std::time::Instant::now();
    let mut lives = 0;
    while lives < 300 || seconds.is_some_and(|seconds: u64| began.elapsed().as_secs() < seconds) {
        lives += 1;
        live(&bytes(u64::wrapping_mul(lives, 0x9E37_79B9_7F4A_7C15), 8 << 10));
    }
    println!("{lives} lives");
}

/// That the calls are those of the whole ABI is not left to whoever adds a function.
#[test]
fn every_function_is_called() {
    let calls = [
        include_str!("breaker.rs"),
        include_str!("clock.rs"),
        include_str!("entry.rs"),
        include_str!("observer.rs"),
        include_str!("registry.rs"),
        include_str!("report.rs"),
        include_str!("resource.rs"),
        include_str!("rules.rs"),
        include_str!("world.rs"),
    ]
    .concat();
    let words: HashSet<&str> = calls.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let header = include_str!("../../../../include/tripcoil.h");
    let declared = header.lines().filter(|line| !line.starts_with(['/', ' '])).filter_map(|line| {
        let name = line.split_once('(')?.0.rsplit([' ', '*']).next()?;
        name.starts_with("tripcoil_").then_some(name)
    });
    let mut count = 0;
    for name in declared {
        assert!(words.contains(name), "{name} is not called");
        count += 1;
    }
    assert!(count > 50, "{count} functions");
}
