//! Drives the whole ABI with calls that are drawn from bytes: right and wrong handles, texts, lengths
//! and numbers. The bytes are random in the test below, and libFuzzer's in `fuzz/`.

use arbitrary::{Arbitrary, Unstructured};

use self::world::World;

mod breaker;
mod clock;
mod entry;
mod handles;
mod observer;
mod registry;
mod report;
mod resource;
mod rules;
#[cfg(test)]
mod test;
mod texts;
mod world;

/// One call of the ABI.
#[derive(Arbitrary, Debug)]
enum Call {
    Clock(clock::Call),
    Registry(registry::Call),
    Rules(rules::Call),
    Observer(observer::Call),
    Resource(resource::Call),
    Breaker(breaker::Call),
    Report(report::Call),
    Entry(entry::Call),
}

/// One life: handles are made, used and misused as the bytes say, and freed. Panics where the library
/// does not answer as it must.
pub fn live(bytes: &[u8]) {
    let mut unstructured = Unstructured::new(bytes);
    let mut world = World::new();
    while !unstructured.is_empty() {
        let Ok(call) = Call::arbitrary(&mut unstructured) else { break };
        match call {
            Call::Clock(call) => call.make(&mut world),
            Call::Registry(call) => call.make(&mut world),
            Call::Rules(call) => call.make(&mut world),
            Call::Observer(call) => call.make(&mut world),
            Call::Resource(call) => call.make(&mut world),
            Call::Breaker(call) => call.make(&mut world),
            Call::Report(call) => call.make(&mut world),
            Call::Entry(call) => call.make(&mut world),
        }
    }
    world.end();
}
