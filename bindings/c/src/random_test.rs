//! Drives the whole ABI with random calls: right and wrong handles, lengths and numbers.
//!
//! `TRIPCOIL_RANDOM_SECONDS` makes it go on for longer than a test should take.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use crate::breaker::*;
use crate::clock::*;
use crate::codes::*;
use crate::entry::*;
use crate::observer::*;
use crate::registry::*;
use crate::report::*;
use crate::resource::*;
use crate::rules::*;
use crate::status::*;

/// xorshift64*: the same calls for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// Handles of one kind, with whether each is live.
struct Handles<T> {
    all: Vec<(*mut T, bool)>,
    free: unsafe extern "C" fn(*mut T) -> tripcoil_status,
}

/// No more, so that no freed handle's memory serves another one.
const MANY: usize = 60;

impl<T> Handles<T> {
    fn new(free: unsafe extern "C" fn(*mut T) -> tripcoil_status) -> Self {
        Self { all: Vec::new(), free }
    }

    fn add(&mut self, status: tripcoil_status, handle: *mut T) {
        if status == TRIPCOIL_OK {
            self.all.push((handle, true));
        }
    }

    /// Any handle, a freed one or NULL among them.
    fn any(&self, random: &mut Random) -> *mut T {
        match random.below(self.all.len() + 1) {
            0 => ptr::null_mut(),
            one => self.all[one - 1].0,
        }
    }

    fn free_any(&mut self, random: &mut Random) {
        if self.all.is_empty() {
            return;
        }
        let one = random.below(self.all.len());
        let (handle, live) = &mut self.all[one];
        let wanted = if *live { TRIPCOIL_OK } else { TRIPCOIL_INVALID_HANDLE };
        *live = false;
        // SAFETY: a handle, live or freed, that no other thread uses.
        assert_eq!(unsafe { (self.free)(*handle) }, wanted);
    }

    fn free_all(&self) {
        for (handle, live) in &self.all {
            let wanted = if *live { TRIPCOIL_OK } else { TRIPCOIL_INVALID_HANDLE };
            // SAFETY: as above.
            assert_eq!(unsafe { (self.free)(*handle) }, wanted);
        }
    }
}

const TEXTS: [&str; 10] = [
    "stock",
    "price",
    "*",
    " ",
    "a\0b",
    r#"[{"resource":"stock","grade":2,"count":1,"timeWindow":1}]"#,
    r#"[{"resource":"stock","grade":1,"count":0.5,"timeWindow":1,"minRequestAmount":2},
        {"resource":"stock","count":5,"timeWindow":2},
        {"resource":"s.*","grade":3,"count":2,"timeWindow":1,"regex":true}]"#,
    r#"{"resource":"*","grade":2,"count":0,"timeWindow":1,"x":1}"#,
    r#"[{"resource":"stock","grade":9,"count":-1}]"#,
    "[{",
];

const NUMBERS: [i32; 12] = [0, 1, 2, 3, 4, 5, 16, 17, -1, 99, i32::MAX, i32::MIN];
const TIMES: [u64; 6] = [0, 1, 1_000_000_000, 2_500_000_000, 1 << 60, u64::MAX];

unsafe extern "C" fn tell(user_data: *mut c_void, change: *const tripcoil_change) {
    // SAFETY: the number that was registered, and a change.
    unsafe { *user_data.cast::<u64>() += (*change).sequence }
}

/// One life: handles made, used and misused, freed.
fn life(random: &mut Random) {
    let mut clocks = Handles::new(tripcoil_clock_free);
    let mut registries = Handles::new(tripcoil_registry_free);
    let mut resources = Handles::new(tripcoil_resource_free);
    let mut breakers = Handles::new(tripcoil_breaker_free);
    let mut reports = Handles::new(tripcoil_report_free);
    let mut entries = [const { tripcoil_entry { opaque: [0; 8] } }; 8];
    let mut told = 0_u64;
    for _ in 0..400 {
        let text = random.of(&TEXTS);
        let len = if random.below(8) == 0 { usize::MAX >> random.below(3) } else { text.len() };
        // Whole or cut within a character, but never longer, unless it is absurd.
        let (text, len) =
            (text.as_ptr().cast(), if len > 1 << 30 { len } else { len - random.below(2).min(len) });
        let (number, time) = (random.of(&NUMBERS), random.of(&TIMES));
        let (clock, registry) = (clocks.any(random), registries.any(random));
        let (resource, breaker) = (resources.any(random), breakers.any(random));
        let report = reports.any(random);
        let entry = &raw mut entries[random.below(8)];
        let mut buffer = [0; 64];
        let (room, mut needed) = (random.below(65), 0);
        let (buffer, needed) = (buffer.as_mut_ptr(), &raw mut needed);
        let mut given = ptr::null_mut();
        // SAFETY: live or freed handles of the right kind or NULL; lengths that are right or absurd.
        let status = unsafe {
            match random.below(46) {
                0 if clocks.all.len() < MANY => {
                    let mut made = ptr::null_mut();
                    let status = tripcoil_clock_new(&raw mut made);
                    clocks.add(status, made);
                    status
                }
                1 if registries.all.len() < MANY => {
                    let mut made = ptr::null_mut();
                    let status = tripcoil_registry_new(clock, random.below(3) as u64, &raw mut made);
                    registries.add(status, made);
                    status
                }
                2..=5 if resources.all.len() < MANY => {
                    let mut made = ptr::null_mut();
                    let status = tripcoil_registry_resource(registry, text, len, &raw mut made);
                    resources.add(status, made);
                    status
                }
                6..=7 if breakers.all.len() < MANY => {
                    let mut made = ptr::null_mut();
                    let status = tripcoil_resource_breaker(resource, random.below(4), &raw mut made);
                    breakers.add(status, made);
                    status
                }
                8 => tripcoil_registry_load(registry, text, len, &raw mut given),
                9 => tripcoil_registry_load_lenient(registry, text, len, &raw mut given),
                10 => tripcoil_registry_load_defaults(registry, text, len, &raw mut given),
                11 => tripcoil_registry_load_resource(registry, text, len, text, len, ptr::null_mut()),
                12 => tripcoil_registry_load_legacy(registry, number, text, len, &raw mut given),
                13 => tripcoil_rules_read(text, len, &raw mut given, buffer, room, needed),
                14 => tripcoil_registry_exclude(registry, text, len),
                15 => tripcoil_registry_include(registry, text, len),
                16 => tripcoil_registry_names(registry, buffer, room, needed),
                17 => tripcoil_registry_rules(registry, buffer, room, needed),
                18 => tripcoil_registry_excluded(registry, buffer, room, needed),
                19 => {
                    let user_data = (&raw mut told).cast();
                    tripcoil_registry_observe(registry, text, len, Some(tell), user_data, None)
                }
                20 => tripcoil_registry_unobserve(registry, text, len),
                21..=26 => tripcoil_resource_enter(resource, entry),
                27..=31 => tripcoil_entry_end(entry, random.of(&NUMBERS[1..5])),
                32 => tripcoil_entry_end_with(entry, number, time),
                33 => tripcoil_entry_mark_bad(entry),
                34 => {
                    let mut blocked = MaybeUninit::uninit();
                    tripcoil_entry_blocked(entry, blocked.as_mut_ptr())
                }
                35 => tripcoil_entry_explain(entry, buffer, room, needed),
                36 => tripcoil_entry_rule(entry, buffer, room, needed),
                37 => tripcoil_clock_set(clock, time),
                38 => tripcoil_clock_advance(clock, time),
                39 => tripcoil_resource_set_mode(resource, number),
                40 => tripcoil_breaker_set_mode(breaker, random.of(&[TRIPCOIL_NORMAL, number])),
                41 => {
                    let mut snapshot = MaybeUninit::uninit();
                    tripcoil_breaker_snapshot(breaker, snapshot.as_mut_ptr())
                }
                42 => tripcoil_breaker_explain(breaker, buffer, room, needed),
                43 => tripcoil_report_text(report, random.below(3), number, buffer, room, needed),
                44 => {
                    match random.below(5) {
                        0 => clocks.free_any(random),
                        1 => registries.free_any(random),
                        2 => resources.free_any(random),
                        3 => breakers.free_any(random),
                        _ => reports.free_any(random),
                    }
                    TRIPCOIL_OK
                }
                _ => tripcoil_breaker_reset(breaker),
            }
        };
        if !given.is_null() {
            reports.add(TRIPCOIL_OK, given);
        }
        assert_ne!(status, TRIPCOIL_PANIC);
    }
    for entry in &mut entries {
        // SAFETY: an entry that was entered or zeroed.
        unsafe { tripcoil_entry_end(entry, TRIPCOIL_CANCELLED) };
    }
    clocks.free_all();
    registries.free_all();
    resources.free_all();
    breakers.free_all();
    reports.free_all();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a long run is measured in time")]
fn whatever_is_called_is_answered() {
    let seconds = std::env::var("TRIPCOIL_RANDOM_SECONDS").ok().and_then(|text| text.parse().ok());
    let began = std::time::Instant::now();
    let mut lives = 0;
    while lives < 200 || seconds.is_some_and(|seconds: u64| began.elapsed().as_secs() < seconds) {
        lives += 1;
        life(&mut Random(u64::wrapping_mul(lives, 0x9E37_79B9_7F4A_7C15)));
    }
    println!("{lives} lives");
}
