//! Lists the public items of a crate, a line each, from what rustdoc knows of it: `tripcoil-api FILE.json`.

use std::env;
use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = env::args_os().nth(1) else {
        eprintln!("usage: tripcoil-api FILE.json");
        return ExitCode::FAILURE;
    };
    // What every type has says nothing of this crate.
    let listing = public_api::Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    match listing {
        Ok(listing) => {
            // `Freeze` is the compiler's own.
            let items = listing.to_string();
            let items = items.lines().filter(|item| !item.contains("core::marker::Freeze"));
            let mut out = io::stdout().lock();
            match items.into_iter().try_for_each(|item| writeln!(out, "{item}")) {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
