//! The functions through which every call of an environment goes.
//!
//! There is one of each for all resources, which they are told by number: an engine that always finds the same function
//! calls it twice as fast as one that finds a different one for each resource. What they are told and what they answer
//! is in the mail (`mail.rs`), so that they ask nothing of Node.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use napi::bindgen_prelude::{Buffer, BufferSlice, Function, Object};
use napi::sys::{napi_callback_info, napi_env, napi_value};
use napi::{Env, Result};
use napi_derive::napi;

use crate::calls::{Calls, Leave};
use crate::mail::Mail;
use crate::pulse;

/// Each is told a number and answers with one, by mail.
#[napi(object, object_from_js = false)]
pub(crate) struct Doors<'env> {
    /// Memory of two `Int32`: what a door is told, and what it answers.
    #[napi(ts_type = "Buffer")]
    pub mail: Object<'env>,
    /// Begins a call on the resource of a number. Not negative: a token for `exit`, in which the bit 4 says that changes
    /// wait. Negative: blocked, for a reason that has this number.
    pub enter: Function<'env, (), ()>,
    /// As `enter`, but the token may be one whose bit 2^30 says that it is a pass: that every call on the resource may
    /// begin and end with it while the pulse is what it was before this call.
    pub admit: Function<'env, (), ()>,
    /// Ends a call: its token plus 0 for good, 1 for bad, 2 for ignored, 3 for cancelled. Answers 1 where changes wait,
    /// else 0.
    pub exit: Function<'env, (), ()>,
}

/// Makes the functions of an environment. `pulse` is memory of one `Int32` that is another number as soon as anything has
/// changed for which `admit` may not give the same again. `mail` becomes the memory of the doors, unless the thread has
/// such memory already.
#[napi(catch_unwind)]
pub(crate) fn doors<'env>(env: &'env Env, pulse: Buffer, mail: BufferSlice<'env>) -> Result<Doors<'env>> {
    pulse::show(env, pulse)?;
    Ok(Doors {
        mail: Mail::share(env, mail)?,
        enter: env.create_function("enter", enter)?,
        admit: env.create_function("admit", admit)?,
        exit: env.create_function("exit", exit)?,
    })
}

extern "C" fn enter(env: napi_env, _: napi_callback_info) -> napi_value {
    answer(env, |calls, number| calls.enter(number.cast_unsigned(), Leave::Once))
}

extern "C" fn admit(env: napi_env, _: napi_callback_info) -> napi_value {
    pulse::felt();
    answer(env, |calls, number| calls.enter(number.cast_unsigned(), Leave::Often))
}

extern "C" fn exit(env: napi_env, _: napi_callback_info) -> napi_value {
    answer(env, |calls, token| i32::from(calls.exit(token, None)))
}

/// Answers what the mail tells. A panic becomes an error of JavaScript's, as in other functions.
#[inline]
fn answer(env: napi_env, ask: impl FnOnce(&Calls, i32) -> i32) -> napi_value {
    let answered = AssertUnwindSafe(|| Calls::here(|calls| calls.mail.answer(|number| ask(calls, number))));
    if catch_unwind(answered).is_err() {
        // Where there is an error already, that one is thrown.
        let _ = Env::from_raw(env).throw_error("the native part has failed", None);
    }
    ptr::null_mut()
}

/// Nobody uses the token of a pass any more.
#[napi(catch_unwind)]
pub(crate) fn forget(token: i32) {
    Calls::here(|calls| calls.forget(token));
}

/// How long, in ms, the last call that the resource of a number has blocked has to wait.
#[napi(catch_unwind)]
pub(crate) fn retry_after(resource: u32) -> f64 {
    Calls::here(|calls| calls.retry_after(resource))
}
