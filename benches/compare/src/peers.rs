//! Other circuit breakers for Rust, each as its documentation says, on equal work: a ratio of errors of 0.5
//! with at least 100 calls, in a window of 10 s in 10 buckets where it has one, open for an hour.

use std::error::Error;
use std::fmt;
use std::hint::black_box;
use std::pin::pin;
use std::sync::{Arc, Once};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use failsafe::CircuitBreaker as _;
use sentinel_core::circuitbreaker as sentinel;

/// A breaker with the calls that are measured.
pub trait Peer: Sized + Send + Sync + 'static {
    /// Of the crate, and of a group of subjects' member.
    const NAME: &'static str;

    /// Healthy, as configured for use.
    fn closed() -> Self;

    /// Counts failures, and never opens.
    fn patient() -> Self;

    /// Has opened.
    fn open() -> Self;

    /// A call that ends well, if it is made.
    fn good(&self) -> bool;

    /// A call that fails. Whether it was made.
    fn bad(&self) -> bool;

    /// Fails until calls are rejected.
    fn opened(self) -> Self {
        assert!((0..100_000).any(|_| !self.bad()), "{} does not open", Self::NAME);
        self
    }
}

/// How a guarded call fails.
#[derive(Debug)]
pub struct Failure;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no")
    }
}

impl Error for Failure {}

fn succeed() -> Result<u32, Failure> {
    Ok(black_box(7))
}

fn fail() -> Result<u32, Failure> {
    black_box(Err(Failure))
}

impl Peer for recloser::Recloser {
    const NAME: &'static str = "recloser";

    fn closed() -> Self {
        Self::custom().error_rate(0.5).closed_len(100).half_open_len(10).open_wait(HOUR).build()
    }

    fn patient() -> Self {
        Self::custom().error_rate(2.0).closed_len(100).half_open_len(10).open_wait(HOUR).build()
    }

    fn open() -> Self {
        Self::closed().opened()
    }

    fn good(&self) -> bool {
        self.call(succeed).is_ok()
    }

    fn bad(&self) -> bool {
        !matches!(self.call(fail), Err(recloser::Error::Rejected))
    }
}

type Rate = failsafe::failure_policy::SuccessRateOverTimeWindow<failsafe::backoff::Constant>;
pub type Failsafe = failsafe::StateMachine<Rate, ()>;

fn failsafe(rate: f64, window: Duration) -> Failsafe {
    let backoff = failsafe::backoff::constant(HOUR);
    let policy = failsafe::failure_policy::success_rate_over_time_window(rate, 100, window, backoff);
    failsafe::Config::new().failure_policy(policy).build()
}

impl Peer for Failsafe {
    const NAME: &'static str = "failsafe";

    fn closed() -> Self {
        failsafe(0.5, WINDOW)
    }

    fn patient() -> Self {
        failsafe(0.0, WINDOW)
    }

    fn open() -> Self {
        // It waits for a window to have passed before it opens.
        failsafe(0.5, Duration::from_millis(100)).opened()
    }

    fn good(&self) -> bool {
        self.call(succeed).is_ok()
    }

    fn bad(&self) -> bool {
        !matches!(self.call(fail), Err(failsafe::Error::Rejected))
    }
}

fn breaker(threshold: f32) -> breaker::CircuitBreaker {
    let config = breaker::CircuitBreakerConfig::builder();
    let config = config.sliding_window_size(100).minimum_calls(100).failure_rate_threshold(threshold);
    breaker::CircuitBreaker::new(config.consecutive_failures(u32::MAX).wait_duration(HOUR).build())
}

/// It is for futures only: one that is ready is polled once.
fn polled<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a call that is ready waits"),
    }
}

impl Peer for breaker::CircuitBreaker {
    const NAME: &'static str = "breaker";

    fn closed() -> Self {
        breaker(0.5)
    }

    fn patient() -> Self {
        // 0 is for never.
        breaker(0.0)
    }

    fn open() -> Self {
        Self::closed().opened()
    }

    fn good(&self) -> bool {
        polled(self.call(|| std::future::ready(succeed()))).is_ok()
    }

    fn bad(&self) -> bool {
        let result = polled(self.call(|| std::future::ready(fail())));
        matches!(result, Err(breaker::CircuitBreakerError::Failure(_)))
    }
}

pub type Lifetime = circuitbreaker_rs::CircuitBreaker<circuitbreaker_rs::DefaultPolicy, Failure>;

impl Peer for Lifetime {
    const NAME: &'static str = "circuitbreaker-rs";

    fn closed() -> Self {
        let builder = Self::builder().failure_threshold(0.5).min_throughput(100).cooldown(HOUR);
        builder.consecutive_failures(u64::MAX).build()
    }

    fn patient() -> Self {
        let builder = Self::builder().failure_threshold(2.0).min_throughput(100).cooldown(HOUR);
        builder.consecutive_failures(u64::MAX).build()
    }

    fn open() -> Self {
        Self::closed().opened()
    }

    fn good(&self) -> bool {
        self.call(succeed).is_ok()
    }

    fn bad(&self) -> bool {
        matches!(self.call(fail), Err(circuitbreaker_rs::BreakerError::Operation(_)))
    }
}

/// A resource of the process's one registry.
pub struct Sentinel(&'static str);

impl Sentinel {
    fn new(name: &'static str, min_request_amount: u64) -> Self {
        static READY: Once = Once::new();
        READY.call_once(|| sentinel_core::init_default().expect("its defaults"));
        let rule = sentinel::Rule {
            resource: name.to_owned(),
            strategy: sentinel::BreakerStrategy::ErrorRatio,
            threshold: 0.5,
            min_request_amount,
            stat_interval_ms: 10_000,
            stat_sliding_window_bucket_count: 10,
            retry_timeout_ms: 3_600_000,
            ..sentinel::Rule::default()
        };
        sentinel::append_rule(Arc::new(rule));
        Self(name)
    }

    fn call(&self, function: impl FnOnce() -> Result<u32, Failure>) -> Option<Result<u32, Failure>> {
        let entry = sentinel_core::EntryBuilder::new(self.0.to_owned());
        let entry = entry.with_traffic_type(sentinel_core::base::TrafficType::Outbound).build().ok()?;
        let result = function();
        if result.is_err() {
            entry.set_err(anyhow::Error::msg("no"));
        }
        entry.exit();
        Some(result)
    }
}

impl Peer for Sentinel {
    const NAME: &'static str = "sentinel-core";

    fn closed() -> Self {
        Self::new("closed", 100)
    }

    fn patient() -> Self {
        Self::new("patient", u64::MAX)
    }

    fn open() -> Self {
        Self::new("open", 100).opened()
    }

    fn good(&self) -> bool {
        self.call(succeed).is_some()
    }

    fn bad(&self) -> bool {
        self.call(fail).is_some()
    }
}

const HOUR: Duration = Duration::from_secs(3600);
const WINDOW: Duration = Duration::from_secs(10);
