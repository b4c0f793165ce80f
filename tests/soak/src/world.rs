//! What lives from the first round to the last.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tripcoil::{Registry, Resource, VirtualClock};

use crate::Random;
use crate::calls::{Held, call};
use crate::changes::lasting;
use crate::tally::Tally;

const THREADS: u64 = 4;
const CALLS: u64 = 2_000;
const CHANGES: u64 = 60;

pub(crate) struct World {
    pub(crate) clock: VirtualClock,
    pub(crate) registry: Registry,
    pub(crate) reloads: AtomicU64,
    pub(crate) observers: AtomicU64,
    pub(crate) registries: AtomicU64,
    pub(crate) told: Arc<AtomicU64>,
    pub(crate) children: u64,
    rounds: u64,
    trips: Arc<AtomicU64>,
    /// Of "kept", and of "three".
    lasting: [Tally; 2],
    others: Tally,
    held: Held,
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = VirtualClock::new();
        let registry = Registry::builder().clock(clock.clone()).build();
        registry.load_json(Value::from(lasting(1)).to_string()).expect("the rules are valid");
        let trips = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&trips);
        registry.observe("trips", move |change| {
            count.fetch_add(u64::from(change.trip.is_some()), Ordering::Relaxed);
        });
        Self {
            clock,
            registry,
            reloads: AtomicU64::new(0),
            observers: AtomicU64::new(0),
            registries: AtomicU64::new(0),
            told: Arc::default(),
            children: 0,
            rounds: 0,
            trips,
            lasting: Default::default(),
            others: Tally::default(),
            held: Held::default(),
        }
    }

    pub(crate) fn resource(&self, name: &str) -> Resource {
        self.registry.resource(name).expect("the names are valid")
    }

    /// Four threads call while this one makes changes; then all is counted.
    pub(crate) fn round(&mut self, number: u64) -> Value {
        let [kept, three] = ["kept", "three"].map(|name| self.resource(name));
        self.held.step(&kept, &self.lasting[0], &mut Random::new(number));
        thread::scope(|scope| {
            let world = &*self;
            for thread in 1..=THREADS {
                let handles = [&kept, &three];
                scope.spawn(move || world.calls(handles, &mut Random::new(number * 8 + thread)));
            }
            let mut random = Random::new(number * 8);
            (0..CHANGES).for_each(|_| world.change(&mut random));
        });
        self.rounds += 1;
        self.lasting[0].check(&kept, self.held.open());
        self.lasting[1].check(&three, 0);
        self.figures()
    }

    fn calls(&self, lasting: [&Resource; 2], random: &mut Random) {
        for step in 0..CALLS {
            for (resource, tally) in lasting.iter().zip(&self.lasting) {
                call(resource, tally, random, step);
            }
            let name = match random.below(3) {
                0 => "brief".to_owned(),
                1 => format!("like-{}", random.below(32)),
                _ => format!("other-{}", random.below(32)),
            };
            call(&self.resource(&name), &self.others, random, step);
            self.clock.advance(Duration::from_millis(random.below(8)));
        }
    }

    /// What has been done so far.
    pub(crate) fn figures(&self) -> Value {
        let [kept, three, others] = [&self.lasting[0], &self.lasting[1], &self.others].map(Tally::calls);
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        json!({
            "rounds": self.rounds,
            "calls": kept.0 + three.0 + others.0,
            "blocked": kept.1 + three.1 + others.1,
            "trips": load(&self.trips),
            "told": load(&self.told),
            "reloads": load(&self.reloads),
            "observers": load(&self.observers),
            "registries": load(&self.registries),
            "children": self.children,
        })
    }
}
