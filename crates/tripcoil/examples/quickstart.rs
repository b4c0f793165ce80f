//! A call to a service that is down: after four failures, it is left alone for two seconds.

use std::{io, time::Duration};

use tripcoil::{CallError, Registry, Rule};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::new();
    registry.load_rules(vec![
        Rule::error_ratio("stock")
            .threshold(0.5)
            .min_request_amount(4)
            .stat_interval(Duration::from_secs(10))
            .retry_timeout(Duration::from_secs(2))
            .build()?,
    ])?;

    let stock = registry.resource("stock")?;
    for _ in 0..6 {
        match stock.call(fetch) {
            Ok(answer) => println!("{answer}"),
            Err(CallError::Failed(error)) => println!("failed: {error}"),
            Err(CallError::Blocked(blocked)) => println!("not called: {blocked}"),
        }
    }
    Ok(())
}

/// Stands for a call over the network.
fn fetch() -> io::Result<String> {
    Err(io::ErrorKind::TimedOut.into())
}
