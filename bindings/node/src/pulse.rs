//! How JavaScript knows, without asking, that no breaker has changed.
//!
//! Each environment has a word of memory that JavaScript reads before a call, as it reads any array, and that is another
//! one after each change: of a breaker's state or mode, and of the rules. Changes that are made anywhere are told to
//! all, since `Registry.global` belongs to all.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::Buffer;
use napi::{Env, Error, Result, Status};
use zerocopy::FromBytes;

struct Pulse {
    beats: u32,
    added: u64,
    /// Each belongs to JavaScript, and is taken out before its environment ends.
    words: Vec<(u64, Buffer)>,
}

static PULSE: Mutex<Pulse> = Mutex::new(Pulse { beats: 0, added: 0, words: Vec::new() });

fn pulse() -> MutexGuard<'static, Pulse> {
    PULSE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn word(memory: &mut Buffer) -> Option<&mut AtomicU32> {
    AtomicU32::mut_from_bytes(memory).ok()
}

/// Something has changed: whoever begins a call from now on asks.
pub(crate) fn beat() {
    let mut pulse = pulse();
    // Not negative as JavaScript's `Int32Array` reads it, which leaves room for a beat that never was.
    pulse.beats = pulse.beats.wrapping_add(1) & i32::MAX.cast_unsigned();
    let beats = pulse.beats;
    for (_, memory) in &mut pulse.words {
        if let Some(word) = word(memory) {
            // Release: pairs with `felt`.
            word.store(beats, Ordering::Release);
        }
    }
}

/// Whoever has read the pulse finds what had changed before that beat.
#[inline]
pub(crate) fn felt() {
    // Acquire: pairs with `beat`, whose word JavaScript has read.
    fence(Ordering::Acquire);
}

/// Writes the pulse into a word of JavaScript's, as long as the environment is there.
pub(crate) fn show(env: &Env, mut memory: Buffer) -> Result<()> {
    if word(&mut memory).is_none() {
        return Err(Error::new(Status::InvalidArg, "the pulse needs the memory of one Int32"));
    }
    let mut pulse = pulse();
    pulse.added += 1;
    let added = pulse.added;
    env.add_env_cleanup_hook(added, |added| {
        let mut pulse = self::pulse();
        let place = pulse.words.iter().position(|(number, _)| *number == added);
        let gone = place.map(|place| pulse.words.swap_remove(place));
        drop(pulse);
        drop(gone);
    })?;
    pulse.words.push((added, memory));
    Ok(())
}
