//! The whole demo, told fast: the story comes out right whatever the machine is busy with.

use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

/// Runs the demo in the workspace's root, where its default paths lead.
fn demo(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the demo has a folder");
    Command::new(env!("CARGO_BIN_EXE_tripcoil-demo"))
        .current_dir(root)
        .args(arguments)
        .output()
        .expect("the demo starts")
}

/// The two figures of the table's row `name`.
fn row(told: &str, name: &str) -> [u64; 2] {
    let row = told.lines().find_map(|line| line.strip_prefix(name));
    let row = row.unwrap_or_else(|| panic!("no row {name:?} in:\n{told}"));
    let figures: Vec<_> = row.split_whitespace().map(|figure| figure.parse().expect(row)).collect();
    figures.try_into().expect("two figures")
}

#[test]
fn the_breaker_spares_the_sick_server_and_the_picture_shows_it() {
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new/timeline.svg");
    let path = picture.to_str().expect("a path in UTF-8");
    let output = demo(&["--speed", "6", "--seed", "3", "--only", "rust", "--out", path]);
    let told = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));

    let [calls, calls_with] = row(&told, "calls ");
    assert_eq!(calls, calls_with, "both runs have one script");
    let [sick, sick_with] = row(&told, "calls that reached the sick server");
    assert!(0 < sick_with && sick_with < sick, "{told}");
    let [blocked, blocked_with] = row(&told, "blocked");
    assert!(blocked == 0 && blocked_with > 0, "{told}");
    let [ok, later, failed] =
        ["answered within 200 ms", "answered later", "failed"].map(|name| row(&told, name));
    for run in 0..2 {
        assert_eq!(ok[run] + later[run] + failed[run] + [blocked, blocked_with][run], calls);
    }
    for text in ["callers waited", "p50", "p99", "CLOSED -> OPEN", "OPEN -> HALF_OPEN", path] {
        assert!(told.contains(text), "no {text:?} in:\n{told}");
    }
    assert!(!told.contains('\x1b'), "no terminal, no control characters");

    let svg = fs::read_to_string(picture).expect("the picture is there");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    for text in ["Without the breaker", "With the breaker", "HALF_OPEN"] {
        assert!(svg.contains(text), "no {text:?} in the picture");
    }
}

#[test]
fn wrong_rules_end_the_demo_before_it_starts() {
    let rules = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong.json");
    fs::write(&rules, r#"[{"resource": "stock", "count": -1, "timeWindow": 1}]"#).expect("a file");
    let output = demo(&["--rules", rules.to_str().expect("a path in UTF-8")]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{told}");
    assert!(told.contains("wrong.json") && told.contains("count"), "{told}");
}

#[test]
fn a_language_that_cannot_take_part_is_named_or_ends_the_demo() {
    let output = demo(&["--speed", "20", "--only", "c", "--strict"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("C: ") && told.contains("--speed 1"), "{told}");
    let output = demo(&["--only", "cobol"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("allowed: Rust, C"), "{told}");
}
