//! The header in the repository is what the sources make of it: `UPDATE=1` writes it anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn header_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/tripcoil.h")
}

fn version_macros() -> String {
    let numbers: Vec<u32> = env!("CARGO_PKG_VERSION").split('.').map(|part| part.parse().unwrap()).collect();
    format!(
        r#"
/** The version of this header. */
#define TRIPCOIL_VERSION "{}"
/** The same as a number: major * 1000000 + minor * 1000 + patch. */
#define TRIPCOIL_VERSION_NUMBER {}

/** A string literal as two arguments: its address, and its length without the NUL. */
#define TRIPCOIL_STR(literal) ("" literal ""), (sizeof(literal) - 1)
/** An entry that has not been entered: `tripcoil_entry entry = TRIPCOIL_ENTRY_INIT;` */
#define TRIPCOIL_ENTRY_INIT {{{{0}}}}"#,
        env!("CARGO_PKG_VERSION"),
        numbers[0] * 1_000_000 + numbers[1] * 1000 + numbers[2],
    )
}

fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    config.header = Some(fs::read_to_string(root.join("contract.h")).unwrap().trim_end().to_owned());
    config.after_includes = Some(version_macros());
    let mut header = Vec::new();
    cbindgen::generate_with_config(root, config).unwrap().write(&mut header);
    String::from_utf8(header).unwrap()
}

#[test]
fn the_header_is_current() {
    let generated = generated();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(header_path(), &generated).unwrap();
    }
    let committed = fs::read_to_string(header_path()).unwrap_or_default();
    assert!(
        committed == generated,
        "include/tripcoil.h is stale: UPDATE=1 cargo test -p tripcoil-c --test header"
    );
}

/// Every word of the header that a program could clash with.
#[test]
fn every_name_has_the_prefix() {
    let header = generated();
    let mut names = BTreeSet::new();
    for line in header.lines() {
        let mut words =
            line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        match (line.starts_with("#define "), line.find('(')) {
            (true, _) => names.extend(words.nth(1)),
            (false, Some(open)) if !line.starts_with([' ', '/']) => {
                names.extend(line[..open].rsplit([' ', '*']).next().filter(|name| !name.is_empty()));
            }
            _ => {}
        }
        if let Some(name) = line.strip_prefix("typedef struct ") {
            names.extend(name.split([' ', ';']).next());
        }
    }
    let functions = names.iter().filter(|name| name.starts_with("tripcoil_")).count();
    assert!(functions > 40, "{functions}");
    let strange: Vec<_> = names
        .iter()
        .filter(|name| !name.starts_with("tripcoil_") && !name.starts_with("TRIPCOIL_"))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
}
