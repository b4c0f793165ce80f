//! `tripcoil check`, run as a user does.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const TWO_FORMS: &str = r#"[
  {"resource": "stock", "grade": 1, "count": 0.5, "timeWindow": 10},
  {"resource": "price", "strategy": 2, "threshold": 4, "retryTimeoutMs": 1500, "app": "x"}
]"#;

/// A document in a file of its own, which goes when this does.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: impl AsRef<[u8]>) -> File {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, text).unwrap();
        File(path)
    }

    fn name(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn tripcoil(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tripcoil"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended already, without reading.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Exit status, standard output and standard error.
fn check(arguments: &[&str], input: impl AsRef<[u8]>) -> (i32, String, String) {
    let output = tripcoil(&[&["check"], arguments].concat(), input.as_ref());
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_valid_document_is_printed_normalised() {
    let file = File::new("valid.json", TWO_FORMS);
    let (status, output, messages) = check(&[file.name()], "");
    assert_eq!(status, 0, "{messages}");
    assert!(output.starts_with("[\n  {\n    \"resource\": \"stock\",\n"), "{output}");
    assert!(output.ends_with("\n]\n"), "{output}");
    assert!(output.contains("\"slowRatioThreshold\": 1,\n"), "{output}");
    assert!(output.contains("\"timeWindow\": 1.5,\n"), "{output}");
    assert_eq!(
        messages,
        format!("{}:3: warning: rule 1 (resource \"price\"), field app: unknown, not used\n", file.name())
    );
}

#[test]
fn every_fault_comes_with_its_line() {
    let file = File::new(
        "faulty.json",
        "[\n{\"resource\": \"a\", \"grade\": 1, \"count\": 1.5,\n\"timeWindow\": 0},\n7]",
    );
    let (status, output, messages) = check(&[file.name()], "");
    assert_eq!((status, output.as_str()), (1, ""));
    let lines: Vec<_> = messages.lines().collect();
    let starts = [
        ":2: rule 0 (resource \"a\"), field count: 1.5 is not allowed",
        ":3: rule 0 (resource \"a\"), field timeWindow: 0 is not allowed",
        ":4: rule 1: 7 is not allowed; it must be an object",
    ];
    assert_eq!(lines.len(), starts.len(), "{messages}");
    for (line, start) in lines.iter().zip(starts) {
        let start = format!("{}{start}", file.name());
        assert!(line.starts_with(&start), "{line}");
        assert!(!line.contains("(line"), "{line}");
    }
}

#[test]
fn standard_input_is_read_for_a_dash() {
    let (status, output, _) = check(&["-"], TWO_FORMS);
    assert_eq!(status, 0);
    assert!(output.contains("stock"));
    let (status, _, messages) = check(&["-"], "[\n[] x");
    assert_eq!(status, 1);
    assert!(messages.starts_with("-:2: document: it must be JSON"), "{messages}");
}

#[test]
fn a_printed_document_is_valid_and_prints_the_same() {
    let text = r#"{"resource": "r", "count": 49.5, "timeWindow": 3, "id": 7}"#;
    let (_, printed, _) = check(&["-"], text);
    let (status, again, messages) = check(&["-"], &printed);
    assert_eq!((status, messages.as_str()), (0, ""));
    assert_eq!(again, printed);
}

#[test]
fn a_file_that_cannot_be_read_exits_with_1_and_says_so() {
    for path in [env!("CARGO_TARGET_TMPDIR"), "no/such/file.json"] {
        let (status, output, messages) = check(&[path], "");
        assert_eq!((status, output.as_str()), (1, ""));
        assert!(messages.starts_with(&format!("{path}: ")), "{messages}");
        assert_eq!(messages.lines().count(), 1, "{messages}");
    }
}

#[test]
fn a_document_over_the_limit_is_refused() {
    let file = File::new("large.json", vec![b' '; (16 << 20) + 7]);
    let (status, _, messages) = check(&[file.name()], "");
    assert_eq!(status, 1);
    assert!(messages.contains("a text of more than 16777216 bytes"), "{messages}");
    let (status, _, messages) = check(&["--max-bytes", "16777223", file.name()], "");
    assert_eq!((status, messages.contains("JSON")), (1, true), "{messages}");
    assert_eq!(check(&["--max-rules", "1", "-"], "[]").0, 0);
    let (status, _, messages) = check(&["--max-rules", "1", "-"], TWO_FORMS);
    assert_eq!((status, messages.contains("a list of at most 1")), (1, true), "{messages}");
}

#[cfg(unix)]
#[test]
fn a_files_name_does_not_reach_the_terminal_raw() {
    let file = File::new("a\n\u{1b}[2Jb", "7");
    let shown = file.name().replace("a\n\u{1b}[2Jb", r"a\n\u{1b}[2Jb");
    let (_, _, messages) = check(&[file.name()], "");
    assert!(messages.starts_with(&format!("{shown}:1: ")), "{messages}");
    let (_, _, messages) = check(&["no\tsuch\u{9b}\u{202e}file"], "");
    assert!(messages.starts_with(r"no\tsuch\u{9b}\u{202e}file: "), "{messages}");
}

#[test]
fn default_rules_and_one_resources_rules_can_be_checked() {
    let star = r#"{"resource": "*", "grade": 1, "count": 0.5, "timeWindow": 10}"#;
    assert_eq!(check(&["--defaults", "-"], star).0, 0);
    assert_eq!(check(&["--defaults", "-"], TWO_FORMS).0, 1);
    assert_eq!(check(&["--resource", "*", "-"], star).0, 0);
    assert_eq!(check(&["--resource", "r", "-"], star).0, 1);
}

#[test]
fn legacy_rules_can_be_checked() {
    let text = r#"{"resource": "r", "count": 200, "timeWindow": 1, "rtSlowRequestAmount": 2}"#;
    let (status, output, messages) = check(&["--legacy", "1.7", "-"], text);
    assert_eq!((status, messages.as_str()), (0, ""));
    assert!(output.contains("\"rtSlowRequestAmount\": 2\n"), "{output}");
    let (status, output, messages) = check(&["--legacy", "1.6", "-"], text);
    assert_eq!(status, 0);
    assert!(output.contains("\"rtSlowRequestAmount\": 5\n"), "{output}");
    assert!(messages.contains("-:1: warning: "), "{messages}");
    let (status, ..) = check(&["--legacy", "1.7", "-"], text.replace("200", "-1"));
    assert_eq!(status, 1);
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in
        [&[][..], &["--legacy", "1.8", "-"], &["--defaults", "--legacy", "1.6", "-"], &["--unknown", "-"]]
    {
        assert_eq!(check(arguments, "").0, 2, "{arguments:?}");
    }
    assert_eq!(tripcoil(&["--help"], b"").status.code(), Some(0));
}
