//! The core behind three C functions, where there is neither std nor an allocator.
//!
//! If the core pulled in std, the panic handler below would be a second one, and this would not
//! compile; if it allocated, there would be no allocator to be found.
#![no_std]

use core::panic::PanicInfo;

use tripcoil_core::{Admission, Breaker, Bucket, Condition, Ending, Head, Rule, State, time::millis};

static HEAD: Head = Head::new();
static BUCKETS: [Bucket; 10] = [Bucket::NEW; 10];
static BREAKER: Breaker<'static> = Breaker::new(&HEAD, &BUCKETS);

/// Gives the breaker its rule: half of at least four calls failed within 1 s, open for 2 s. 1 if it
/// is accepted, else 0.
#[unsafe(no_mangle)]
pub extern "C" fn breaker_assign() -> i32 {
    let condition = Condition::ErrorRatio(0.5);
    let rule = Rule { inclusive: true, min_request_amount: 4, buckets: 10, ..Rule::new(condition, 2000) };
    i32::from(BREAKER.assign(&rule).is_ok())
}

/// One call from `start_ms` to `end_ms`, with an error if `error` is not 0. 1 if it was let through,
/// 0 if it was blocked.
#[unsafe(no_mangle)]
pub extern "C" fn breaker_call(start_ms: u64, end_ms: u64, error: i32) -> i32 {
    let now = || millis(start_ms);
    let Admission::Passed(permit, _) = BREAKER.admit(now(), now) else { return 0 };
    let response_time = millis(end_ms.saturating_sub(start_ms));
    let _ = BREAKER.complete(permit, Ending { error: error != 0, response_time }, millis(end_ms));
    1
}

/// 0 closed, 1 open, 2 half-open.
#[unsafe(no_mangle)]
pub extern "C" fn breaker_state() -> i32 {
    match BREAKER.state() {
        State::Closed => 0,
        State::Open => 1,
        State::HalfOpen => 2,
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
