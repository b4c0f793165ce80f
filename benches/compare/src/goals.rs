//! The goals, and whether this run met them. Ratios to what was measured in the same run decide.

use crate::samples::Results;

/// A row of the table.
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    pub(crate) measured: String,
    pub(crate) peers: String,
    pub(crate) floor: String,
    pub(crate) goal: &'static str,
    /// None where something it needs was not measured.
    pub(crate) met: Option<bool>,
}

impl Goal {
    /// The last cell.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.met {
            Some(true) => "met",
            Some(false) => "missed",
            None => "not measured",
        }
    }
}

/// What a row says of what was measured.
struct Found {
    measured: String,
    peers: String,
    floor: String,
    met: bool,
}

/// A row: the part of the run that it is of, its name, its goal, and how to judge.
type Row = (&'static str, &'static str, &'static str, fn(&Results) -> Option<Found>);

/// All rows, in order.
pub(crate) fn goals(results: &Results) -> Vec<Goal> {
    let row = |&(part, what, goal, judge): &Row| match judge(results) {
        Some(Found { measured, peers, floor, met }) => {
            Goal { what, measured, peers, floor, goal, met: Some(met) }
        }
        None => {
            let why = results.why_missing(part).unwrap_or("left out of this run").to_owned();
            Goal { what, measured: why, peers: String::new(), floor: String::new(), goal, met: None }
        }
    };
    ROWS.iter().map(row).collect()
}

const ROWS: [Row; 12] = [
    (
        "one-thread",
        "Rust, error rule, closed, by handle, 10 s window in 10 buckets",
        "<= 1.5 x (coarse clock + one `fetch_add`), at least 2 x faster than the fastest Rust peer with a time window, and faster than every peer without one",
        closed,
    ),
    (
        "threads",
        "the same, two threads on one breaker",
        "per-thread cost within 1.3 x of one thread; at least 20 x recloser's throughput",
        two_threads,
    ),
    (
        "one-thread",
        "Rust, slow-ratio rule, closed",
        "<= 1.3 x two clock reads of the kind used plus one `fetch_add`",
        slow_rule,
    ),
    (
        "one-thread",
        "rejection",
        "<= one clock read + 5 ns; no allocation until someone formats the error",
        rejection,
    ),
    ("one-thread", "failing call while closed", "<= 2 x the good one, also with 60 buckets", failing),
    (
        "names",
        "by name, 10,000 names",
        "<= 30 ns more than by handle; flat from 10 to 1,000,000 names within cache effects",
        by_name,
    ),
    (
        "memory",
        "memory of an idle breaker, 10 buckets",
        "<= 256 bytes beside the name and rule; 1,000,000 resources with a rule each: created in seconds, under 600 MB in all",
        memory,
    ),
    ("c", "C, by handle", "within 20 % of Rust", c),
    (
        "python",
        "Python, sync decorator",
        "added cost <= 90 ns, and at least 7 x below the best peer's; blocked call at least 3 x faster than the best peer",
        python_sync,
    ),
    (
        "python",
        "Python, async decorator",
        "added cost <= 130 ns, at least 6 x below the best peer's",
        python_async,
    ),
    (
        "node",
        "Node, wrapped promise",
        "added cost <= 100 ns, at least 1.8 x below cockatiel's sampling breaker and 5 x below opossum's; blocked call at least 2 x faster than both",
        node,
    ),
    (
        "json",
        "JSON: load 100,000 rules",
        "<= 2 x serde_json's own parsing of the same text into a Value; unchanged reload of them cheaper still",
        json,
    ),
];

fn closed(r: &Results) -> Option<Found> {
    let (ours, call) = (r.get("closed/tripcoil")?, r.get("closed/tripcoil, call()")?);
    let floor = r.get("floor/coarse clock and fetch_add")?;
    let (windowed, plain) = (fastest(r, "closed", &WINDOWED)?, fastest(r, "closed", &PLAIN)?);
    Some(Found {
        measured: format!(
            "{}; {} of the floor, {} and {} faster than the fastest peer with and without a window; by `call()` {}",
            ns(ours),
            x(ours / floor),
            x(windowed / ours),
            x(plain / ours),
            ns(call)
        ),
        peers: list(r, "closed", &WINDOWED) + " (10 s); " + &list(r, "closed", &PLAIN),
        floor: format!(
            "both in one loop {}; the clock alone {}, `fetch_add` alone {}",
            ns(floor),
            ns(r.get("floor/coarse clock")?),
            ns(r.get("floor/fetch_add")?)
        ),
        met: ours <= 1.5 * floor && windowed >= 2.0 * ours && plain > ours,
    })
}

fn two_threads(r: &Results) -> Option<Found> {
    let (one, two) = (r.get("threads 1/tripcoil")?, r.get("threads 2/tripcoil")?);
    let recloser = r.get("threads 2/recloser")?;
    Some(Found {
        measured: format!(
            "{}; {} of one thread's {}; {} recloser's throughput",
            ns(two),
            x(two / one),
            ns(one),
            x(recloser / two)
        ),
        peers: list(r, "threads 2", &[&WINDOWED[..], &PLAIN].concat()),
        floor: format!(
            "each thread with a breaker of its own {}; one shared `fetch_add` {}",
            ns(r.get("threads 2/tripcoil, a breaker each")?),
            ns(r.get("threads 2/fetch_add")?)
        ),
        met: two <= 1.3 * one && recloser >= 20.0 * two,
    })
}

fn slow_rule(r: &Results) -> Option<Found> {
    let (ours, floor) = (r.get("slow rule/tripcoil")?, r.get("floor/two precise clocks and fetch_add")?);
    Some(Found {
        measured: format!("{}; {} of the floor", ns(ours), x(ours / floor)),
        peers: String::new(),
        floor: format!("{}; one precise clock {}", ns(floor), ns(r.get("floor/precise clock")?)),
        met: ours <= 1.3 * floor,
    })
}

fn rejection(r: &Results) -> Option<Found> {
    let (ours, clock) = (r.get("rejected/tripcoil")?, r.get("floor/coarse clock")?);
    let allocations = r.get("allocations/a thousand rejections")?;
    Some(Found {
        measured: format!(
            "{}; clock + {}; {allocations} allocations in 1,000 rejections, {} to format one",
            ns(ours),
            ns(ours - clock),
            r.get("allocations/one rejection, formatted")?
        ),
        peers: list(r, "rejected", &[&WINDOWED[..], &PLAIN].concat()),
        floor: format!(
            "coarse clock {}; with what an error that owns its resource takes, a count and a reference, {}",
            ns(clock),
            ns(r.get("floor/coarse clock and three fetch_adds")?)
        ),
        met: ours <= clock + 5.0 && allocations == 0.0,
    })
}

fn failing(r: &Results) -> Option<Found> {
    let mut met = true;
    let mut measured = Vec::new();
    for buckets in ["10 buckets", "60 buckets"] {
        let of = |what: &str| r.get(&format!("{what}/{buckets}"));
        let good = of("good")?;
        let count = of("failing, error count")?;
        let (nine, ten) = (of("ten good ones, error ratio")?, of("one failing of ten, error ratio")?);
        let ratio = nine + 10.0 * (ten - nine);
        met &= count <= 2.0 * good && ratio <= 2.0 * good;
        measured.push(format!(
            "{buckets}: by an error count {} ({}), by a ratio, one of ten, {} ({}); good {}, good while the window holds bad ones {}",
            ns(count), x(count / good), ns(ratio), x(ratio / good), ns(good), ns(of("good among bad")?)
        ));
    }
    Some(Found {
        measured: measured.join("; "),
        peers: list(r, "failing", &[&WINDOWED[..], &PLAIN].concat()),
        floor: format!(
            "the good call; coarse clock and `fetch_add` {}",
            ns(r.get("floor/coarse clock and fetch_add")?)
        ),
        met,
    })
}

fn by_name(r: &Results) -> Option<Found> {
    let more = |count: u32| Some(r.get(&format!("by name/{count}"))? - r.get(&format!("by handle/{count}"))?);
    let each = crate::names::NAMES.map(|count| {
        let count = count as u32;
        Some(format!(
            "{count}: {} - {}",
            number(r.get(&format!("by name/{count}"))?),
            number(r.get(&format!("by handle/{count}"))?)
        ))
    });
    let each: Option<Vec<_>> = each.into_iter().collect();
    let map = |count: u32| r.get(&format!("HashMap::get/{count}"));
    // What a look-up has to fetch is what a map has to fetch.
    let (grown, map_grown) = (more(1_000_000)? - more(10)?, map(1_000_000)? - map(10)?);
    Some(Found {
        measured: format!(
            "{} more; by name and by handle, in one random order, ns: {}",
            ns(more(10_000)?),
            each?.join(", ")
        ),
        peers: format!(
            "sentinel-core, whose calls are by name, one name: {}",
            ns(r.get("closed/sentinel-core").unwrap_or(f64::NAN))
        ),
        floor: format!(
            "`HashMap::get` alone: {} of 10, {} of 10,000, {} of 1,000,000 names",
            ns(map(10)?),
            ns(map(10_000)?),
            ns(map(1_000_000)?)
        ),
        met: more(10_000)? <= 30.0 && grown <= 2.0 * map_grown,
    })
}

fn memory(r: &Results) -> Option<Found> {
    let ours = r.get("memory/tripcoil, idle breaker, beside name and rule")?;
    let called = r.get("memory/tripcoil, once it has been called")?;
    let rule = r.get("memory/tripcoil, the name and the rule")?;
    let all_called = r.get("million bytes/all called")?;
    let (seconds, bytes) = (r.get("million/all")?, r.get("million bytes/resident")?);
    let loading = r.get("million/loading their rules")?;
    let peers = r.group("memory").into_iter().filter(|(name, _)| !name.starts_with("tripcoil"));
    let peers: Vec<_> = peers.map(|(name, bytes)| format!("{name} {bytes:.0}")).collect();
    Some(Found {
        measured: format!(
            "{ours:.0} bytes before the first call, {called:.0} after it, the name and the rule {rule:.0}; 1,000,000: {seconds:.2} s, of which {loading:.2} s for the rules, and {:.0} MB, all called {:.0} MB",
            bytes / 1e6,
            all_called / 1e6
        ),
        peers: format!("bytes, without name: {}", peers.join(", ")),
        floor: "10 buckets of 8 bytes".to_owned(),
        met: ours <= 256.0 && seconds < 10.0 && bytes < 600e6,
    })
}

fn c(r: &Results) -> Option<Found> {
    let mut met = true;
    let mut measured = Vec::new();
    for case in ["closed", "slow rule", "rejected"] {
        let of = |who: &str| r.get(&format!("{case}/{who}"));
        let (rust, fixed, shared) = (of("tripcoil")?, of("C, static")?, of("C, shared")?);
        if case == "closed" {
            met = fixed <= 1.2 * rust && shared <= 1.2 * rust;
        }
        measured.push(format!(
            "{case}: static {} ({}), shared {} ({}), Rust {}",
            ns(fixed),
            x(fixed / rust),
            ns(shared),
            x(shared / rust),
            ns(rust)
        ));
    }
    Some(Found {
        measured: measured.join("; "),
        peers: String::new(),
        floor: format!(
            "one call into the library that does nothing: static {}, shared {}",
            ns(r.get("c floor/C, static")?),
            ns(r.get("c floor/C, shared")?)
        ),
        met,
    })
}

fn python_sync(r: &Results) -> Option<Found> {
    let of = |who: &str| r.get(&format!("python sync, closed/{who}"));
    let bare = of("no breaker")?;
    let added = |who: &str| Some(of(who)? - bare);
    let (ours, (peer, best)) = (added("tripcoil")?, best(&PYTHON, added)?);
    let blocked = |who: &str| r.get(&format!("python sync, blocked/{who}"));
    let (our_blocked, (blocker, best_blocked)) = (blocked("tripcoil")?, self::best(&PYTHON, blocked)?);
    Some(Found {
        measured: format!(
            "adds {}, {} below {peer}'s; blocked {}, {} faster than {blocker}",
            ns(ours),
            x(best / ours),
            ns(our_blocked),
            x(best_blocked / our_blocked)
        ),
        peers: format!("add: {}; blocked: {}", each(&PYTHON, added), each(&PYTHON, blocked)),
        floor: format!(
            "the function alone {}; in a wrapper that does nothing, of C {}, of Python {}",
            ns(bare),
            ns(of("wrapper in C")?),
            ns(of("wrapper in Python")?)
        ),
        met: ours <= 90.0 && best >= 7.0 * ours && best_blocked >= 3.0 * our_blocked,
    })
}

fn python_async(r: &Results) -> Option<Found> {
    let of = |who: &str| r.get(&format!("python async, closed/{who}"));
    let bare = of("no breaker")?;
    let added = |who: &str| Some(of(who)? - bare);
    let (ours, (peer, best)) = (added("tripcoil")?, best(&PYTHON, added)?);
    Some(Found {
        measured: format!("adds {}, {} below {peer}'s", ns(ours), x(best / ours)),
        peers: format!("add: {}", each(&PYTHON, added)),
        floor: format!(
            "the function alone {}; in an `async def` that does nothing {}",
            ns(bare),
            ns(of("wrapper in Python")?)
        ),
        met: ours <= 130.0 && best >= 6.0 * ours,
    })
}

fn node(r: &Results) -> Option<Found> {
    let of = |who: &str| r.get(&format!("node healthy/{who}"));
    let bare = of("bare await")?;
    let added = |who: &str| Some(of(who)? - bare);
    let ours = added("tripcoil")?;
    let (cockatiel, opossum) = (added("cockatiel sampling")?, added("opossum, no timeout")?);
    let blocked = |who: &str| r.get(&format!("node blocked/{who}"));
    let (our_blocked, (blocker, best_blocked)) = (blocked("tripcoil")?, best(&NODE, blocked)?);
    Some(Found {
        measured: format!(
            "adds {}, {} below cockatiel's, {} below opossum's; blocked {}, {} faster than {blocker}",
            ns(ours),
            x(cockatiel / ours),
            x(opossum / ours),
            ns(our_blocked),
            x(best_blocked / our_blocked)
        ),
        peers: format!("add: {}; blocked: {}", each(&NODE, added), each(&NODE, blocked)),
        floor: format!(
            "bare `await` {}; in an `async` function that awaits {}; by `.then(ok, err)` {}; awaiting a rejection {}",
            ns(bare),
            ns(of("async wrapper that awaits")?),
            ns(of("then wrapper")?),
            ns(blocked("bare await of a rejection")?)
        ),
        met: ours <= 100.0
            && cockatiel >= 1.8 * ours
            && opossum >= 5.0 * ours
            && best_blocked >= 2.0 * our_blocked,
    })
}

fn json(r: &Results) -> Option<Found> {
    let of = |what: &str| r.get(&format!("json/{what}"));
    let (value, load) = (of("serde_json, into a Value")?, of("tripcoil, load")?);
    let reload = of("tripcoil, unchanged reload")?;
    let in_use = of("tripcoil, unchanged reload, 100,000 resources")?;
    let ms = |seconds: f64| format!("{:.0} ms", seconds * 1000.0);
    Some(Found {
        measured: format!(
            "{} ({}); unchanged reload {} ({}), with 100,000 resources in use {}",
            ms(load),
            x(load / value),
            ms(reload),
            x(reload / value),
            ms(in_use)
        ),
        peers: String::new(),
        floor: format!("serde_json into a `Value` {}", ms(value)),
        met: load <= 2.0 * value && reload < load,
    })
}

/// The fastest of some members of a group.
fn fastest(r: &Results, group: &str, who: &[&str]) -> Option<f64> {
    best(who, |who| r.get(&format!("{group}/{who}"))).map(|(_, least)| least)
}

/// The least of what is known of some, and whose that is.
fn best<'a>(who: &[&'a str], of: impl Fn(&str) -> Option<f64>) -> Option<(&'a str, f64)> {
    let known = who.iter().filter_map(|who| Some((*who, of(who)?)));
    known.min_by(|a, b| a.1.total_cmp(&b.1))
}

fn list(r: &Results, group: &str, who: &[&str]) -> String {
    each(who, |who| r.get(&format!("{group}/{who}")))
}

/// The best first.
fn each(who: &[&str], of: impl Fn(&str) -> Option<f64>) -> String {
    let mut known: Vec<_> = who.iter().filter_map(|who| Some((of(who)?, *who))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    known.iter().map(|(time, who)| format!("{who} {}", number(*time))).collect::<Vec<_>>().join(", ")
}

fn ns(time: f64) -> String {
    format!("{} ns", number(time))
}

fn x(ratio: f64) -> String {
    format!("{} x", number(ratio))
}

/// With as many digits as mean something.
fn number(number: f64) -> String {
    if number.abs() < 10.0 {
        format!("{number:.2}")
    } else if number.abs() < 100.0 {
        format!("{number:.1}")
    } else {
        format!("{number:.0}")
    }
}

const WINDOWED: [&str; 2] = ["failsafe", "sentinel-core"];
const PLAIN: [&str; 3] = ["recloser", "breaker", "circuitbreaker-rs"];
const PYTHON: [&str; 4] = ["circuitbreaker", "purgatory", "aiobreaker", "pybreaker"];
const NODE: [&str; 4] = ["cockatiel sampling", "opossum, no timeout", "opossum", "mollitia count 100"];
