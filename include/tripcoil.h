/*
 * Tripcoil: a circuit breaker for C and C++.
 *
 * Generated from bindings/c by `UPDATE=1 cargo test -p tripcoil-c --test header`; not to be edited.
 *
 * THE CONTRACT
 *
 * It holds for every function below, which then says only what is special about it.
 *
 * Names. Functions begin with `tripcoil_` and the noun that they work on, constants with `TRIPCOIL_`.
 * Times end in `_ns`: nanoseconds, 64 bits, unsigned. Lengths are bytes. Enumerations are int32_t with
 * the numbers below, which keep their meaning; any other number is `TRIPCOIL_INVALID_VALUE`.
 *
 * Results. A function returns a `tripcoil_status`, and writes what it was asked for through its last
 * pointers, only if the status is `TRIPCOIL_OK`, unless it says otherwise. `_name` and `_message`
 * functions return static strings instead. errno says nothing after a call. No function exits, and none
 * aborts, unless memory runs out: should the library itself be at fault, the status is `TRIPCOIL_PANIC`,
 * and its objects remain usable.
 *
 * Handles. `tripcoil_registry`, `_resource`, `_breaker`, `_report` and `_clock` are opaque; the caller
 * who is given one owns it and frees it with the function of its kind. Handles do not depend on each
 * other: a resource's may outlive its registry's. Only an entry depends on the handle that it was
 * entered with. Structs that are not opaque are the caller's own memory, and need no freeing.
 *
 * Text. In: a pointer and a length, no NUL needed (`TRIPCOIL_STR("literal")` gives both); UTF-8 is
 * checked; it is copied, and may be gone when the function returns. An empty text may be NULL. Out: it
 * is copied to `buffer` and ended by NUL. `*needed` (`needed` may be NULL) becomes its length without
 * the NUL, so that `*needed + 1` bytes are enough. If `capacity` is less, as many whole characters as
 * fit are copied, and the status is `TRIPCOIL_BUFFER_TOO_SMALL`. With a NULL buffer and a capacity of 0
 * only the length is told.
 *
 * Threads. All functions may be called on any thread, and all handles shared, with one exception:
 * freeing a handle must not run at the same time as another use of it. An entry may be ended, or marked
 * bad, by several threads at once. Entering and ending take no lock (the legacy check does); the first
 * use of a name, loading rules, telling observers, making and freeing handles do, for a short time.
 *
 * NULL. Where a pointer must not be NULL, NULL is `TRIPCOIL_NULL_POINTER`, and nothing was done. Freeing
 * NULL is allowed and does nothing. It says so where NULL means something.
 *
 * Misuse. What is told, and then not done: handles of the wrong kind, freed handles (until 1024 more of
 * the kind have been freed and the memory serves another one), pointers that are not handles or not
 * aligned, entries that were ended, blocked, or zero-initialised and never entered, ends of an entry
 * whose resource handle has been freed, lengths beyond what a function reads (nothing is read then).
 * What cannot be told, and is the caller's fault: pointers to memory that cannot be read or written,
 * lengths that are not those of the buffer, freeing a handle while it is in use, a freed handle whose
 * memory serves another one, entering an entry that is still open (the first call is then never ended),
 * and, undefined, ending two copies of an entry, and using an entry of uninitialised memory.
 *
 * Callbacks. An observer runs on a thread that called the library, with no lock of it held, and may call
 * any function here, also to remove itself. It must return: leaving it by longjmp, by a C++ exception or
 * by ending the thread is the caller's fault, and undefined. The same holds for destructors, which had
 * better not call the library at all.
 *
 * Signals. No function may be called from a signal handler. The library installs none.
 *
 * fork. The library has no threads and no timers. A child has breakers of its own from then on, with
 * the state that they had. Fork while no other thread is in a call of the library, or call exec next:
 * a lock that another thread held stays locked in the child.
 *
 * Versions. Compare `tripcoil_version_number()` with `TRIPCOIL_VERSION_NUMBER`. Functions are added, and
 * the soname's number grows where a program must be compiled anew.
 */

#ifndef TRIPCOIL_H
#define TRIPCOIL_H

#include <stddef.h>
#include <stdint.h>

/** The version of this header. */
#define TRIPCOIL_VERSION "0.1.0"
/** The same as a number: major * 1000000 + minor * 1000 + patch. */
#define TRIPCOIL_VERSION_NUMBER 1000

/** A string literal as two arguments: its address, and its length without the NUL. */
#define TRIPCOIL_STR(literal) ("" literal ""), (sizeof(literal) - 1)
/** An entry that has not been entered: `tripcoil_entry entry = TRIPCOIL_ENTRY_INIT;` */
#define TRIPCOIL_ENTRY_INIT {{0}}

/// In a time in ns: there is none, or no limit.
#define TRIPCOIL_NEVER UINT64_MAX

/// Outcome: without an error.
#define TRIPCOIL_GOOD 1

/// Outcome: with an error.
#define TRIPCOIL_BAD 2

/// Outcome: with a result that says nothing of the dependency. It counts nowhere.
#define TRIPCOIL_IGNORED 3

/// Outcome: none, the caller gave up. It counts nowhere, and is listed apart from the ignored ones.
#define TRIPCOIL_CANCELLED 4

/// State: calls pass.
#define TRIPCOIL_CLOSED 0

/// State: calls are rejected, until the retry deadline.
#define TRIPCOIL_OPEN 1

/// State: probes pass.
#define TRIPCOIL_HALF_OPEN 2

/// Mode: the breaker decides.
#define TRIPCOIL_NORMAL 0

/// Mode: everything is rejected.
#define TRIPCOIL_FORCED_OPEN 1

/// Mode: everything passes and is counted.
#define TRIPCOIL_DISABLED 2

/// Mode: the breaker decides and tells, but rejects nothing.
#define TRIPCOIL_OBSERVE_ONLY 3

/// Cause of a trip: one that this header does not know.
#define TRIPCOIL_CAUSE_UNKNOWN 0

/// Cause of a trip: the rule's condition came true.
#define TRIPCOIL_CAUSE_CONDITION 1

/// Cause of a trip: a probe ended badly.
#define TRIPCOIL_CAUSE_PROBE_FAILED 2

/// Cause of a trip: the last probe had no outcome.
#define TRIPCOIL_CAUSE_PROBE_GIVEN_BACK 3

/// The check that Sentinel 1.6 made.
#define TRIPCOIL_LEGACY_1_6 16

/// The check that Sentinel 1.7 made.
#define TRIPCOIL_LEGACY_1_7 17

/// Text of a finding: one readable line with all of it.
#define TRIPCOIL_TEXT_MESSAGE 0

/// Text of a finding: the field, as the document spells it; none for a whole rule or document.
#define TRIPCOIL_TEXT_FIELD 1

/// Text of a finding: the rule's resource, where it has a valid one.
#define TRIPCOIL_TEXT_RESOURCE 2

/// Text of a finding: what stands there; none where something is missing.
#define TRIPCOIL_TEXT_VALUE 3

/// Text of a finding: of a fault, what is allowed there; of a warning, what becomes of it.
#define TRIPCOIL_TEXT_ALLOWED 4

/// One rule's breaker on one resource. Made by `tripcoil_resource_breaker`. One whose rule has been
/// removed since reads as one that has never been used, and cannot be controlled.
typedef struct tripcoil_breaker tripcoil_breaker;

/// A clock that stands still until it is told otherwise: for tests of programs. Made by
/// `tripcoil_clock_new`, given to `tripcoil_registry_new`. Its handle may be freed before the registry's:
/// the time then stands still for ever.
typedef struct tripcoil_clock tripcoil_clock;

/// Resources by name, and the rules that guard them. Made by `tripcoil_registry_new` or
/// `tripcoil_registry_global`.
typedef struct tripcoil_registry tripcoil_registry;

/// What a load found in a document: first the faults, then the warnings, each in the document's order.
/// Given by the functions that read rules; the caller frees it.
typedef struct tripcoil_report tripcoil_report;

/// A named thing to protect. Made by `tripcoil_registry_resource`; asked for a call by
/// `tripcoil_resource_enter`.
typedef struct tripcoil_resource tripcoil_resource;

/// What a function came to: one of the `TRIPCOIL_` numbers below. Numbers are never given a new meaning.
typedef int32_t tripcoil_status;

/// A breaker at one time. While calls run, parts of it may be a call apart.
typedef struct tripcoil_snapshot {
    /// `TRIPCOIL_CLOSED`, `TRIPCOIL_OPEN`, or `TRIPCOIL_HALF_OPEN`.
    int32_t state;
    /// `TRIPCOIL_NORMAL`, `TRIPCOIL_FORCED_OPEN`, `TRIPCOIL_DISABLED`, or `TRIPCOIL_OBSERVE_ONLY`.
    int32_t mode;
    /// Grows with every change of state or mode, and every forfeited probe round.
    uint64_t generation;
    /// Calls in the window that were not bad.
    uint64_t good;
    /// Calls in the window that were bad.
    uint64_t bad;
    /// Failed calls since the last good one, for consecutive-errors rules; else 0.
    uint64_t run;
    /// Time until the next probe may go; `TRIPCOIL_NEVER` without a limit, and where none is waited for.
    uint64_t retry_after_ns;
    /// Since the rule was loaded: calls that were admitted and have ended.
    uint64_t total_passed;
    /// Calls rejected.
    uint64_t total_blocked;
    /// Outcomes that counted as good.
    uint64_t total_good;
    /// Outcomes that counted as bad.
    uint64_t total_bad;
    /// Outcomes ignored.
    uint64_t total_ignored;
    /// Calls given up.
    uint64_t total_cancelled;
    /// Outcomes that came after the breaker had moved on.
    uint64_t total_late;
    /// Calls that an observing breaker would have rejected.
    uint64_t total_observed;
} tripcoil_snapshot;

/// Why a breaker opened.
typedef struct tripcoil_trip {
    /// One of the `TRIPCOIL_CAUSE_` numbers.
    int32_t cause;
    /// The value that was compared: a ratio, or a count; 1.0 where the breaker reopened.
    double value;
    /// The threshold as the decision used it.
    double threshold;
    /// Calls in the window that were not bad.
    uint64_t good;
    /// Calls in the window that were bad; for consecutive errors, the run.
    uint64_t bad;
    /// Length of the window.
    uint64_t window_ns;
    /// The generation that began.
    uint64_t generation;
    /// When, on the registry's clock.
    uint64_t at_ns;
    /// Until when the breaker is open, on the registry's clock; `TRIPCOIL_NEVER` for ever.
    uint64_t open_until_ns;
} tripcoil_trip;

/// An admitted call, from `tripcoil_resource_enter` to `tripcoil_entry_end`: a plain struct, on the stack
/// or wherever the caller likes. It needs no clean-up but its end, and allocates nothing unless more than
/// two rules, or the legacy check, guard the resource. One that is never ended counts nowhere; a probe's
/// place is taken over when its lease ends.
///
/// It may be moved in memory, and ended on any thread, but only one copy may be ended: that two copies
/// are ended cannot be told. Of several ends of the same entry, also at the same time, the first counts.
typedef struct tripcoil_entry {
    /// The library's own.
    uint64_t opaque[8];
} tripcoil_entry;

/// Why a call was blocked.
typedef struct tripcoil_blocked {
    /// The state that rejected it.
    int32_t state;
    /// The mode: `TRIPCOIL_FORCED_OPEN` rejects whatever the state.
    int32_t mode;
    /// Time until the next probe may go; `TRIPCOIL_NEVER` without a limit.
    uint64_t retry_after_ns;
} tripcoil_blocked;

/// One change of a breaker's state or mode. It and its texts are the library's, and gone when the
/// callback returns.
typedef struct tripcoil_change {
    /// The resource's own name, also where a regex or default rule guards it. Not ended by NUL.
    const char *resource;
    /// Its length in bytes.
    size_t resource_len;
    /// The rule, normalised, as JSON. Not ended by NUL.
    const char *rule;
    /// Its length in bytes.
    size_t rule_len;
    /// The breaker's position among its resource's, from 0.
    size_t position;
    /// The state before.
    int32_t from;
    /// The state after.
    int32_t to;
    /// The mode before.
    int32_t from_mode;
    /// The mode after: the same, except for manual control.
    int32_t to_mode;
    /// 1 where there is a snapshot, else 0.
    int32_t has_snapshot;
    /// The value that tripped the breaker, a ratio or a count; 1.0 where it reopened; else 0.
    double snapshot;
    /// When, on the registry's clock.
    uint64_t at_ns;
    /// Grows by one with every change that the registry announces, from 1.
    uint64_t sequence;
    /// The breaker's generation that began.
    uint64_t generation;
    /// Where the breaker opened: why. Else NULL.
    const struct tripcoil_trip *trip;
    /// The same as a sentence. Not ended by NUL; NULL where there is none.
    const char *explanation;
    /// Its length in bytes.
    size_t explanation_len;
} tripcoil_change;

/// Is told of a change, on the thread that made it or on one that is telling of that breaker already.
/// Several threads may call it at once.
typedef void (*tripcoil_observer)(void *user_data, const struct tripcoil_change *change);

/// Frees an observer's user data.
typedef void (*tripcoil_destructor)(void *user_data);

/// What a registry has counted.
typedef struct tripcoil_registry_counts {
    /// Resources that are known.
    uint64_t resources;
    /// Calls that a bounded registry admitted unguarded, for want of a place for their names.
    uint64_t unguarded_calls;
} tripcoil_registry_counts;

/// What a rule document may take at most. Documents come from configuration services and files, and who can
/// write there should not be able to exhaust the process that reads them. Fixed besides: 64 brackets open at
/// once, and names, patterns, ids and `limitApp` of 1024 bytes.
typedef struct tripcoil_limits {
    /// The bytes of a document. Default: 16 MiB.
    uint64_t document_bytes;
    /// The rules of a document, good and bad. Default: 1,000,000.
    uint64_t rules;
    /// The bytes that one pattern takes when compiled; each matching thread adds 100 KiB. Default: 1 MiB.
    uint64_t pattern_bytes;
    /// The bytes that all patterns of a document take together. Default: 64 MiB.
    uint64_t patterns_bytes;
    /// How many faults a report lists, and how many warnings: a last one says how many more there are.
    /// Default: 1000.
    uint64_t listed;
} tripcoil_limits;

/// How much a report holds.
typedef struct tripcoil_report_summary {
    /// Rules that are valid; loaded, where the load went well. The same rule twice counts once.
    size_t rules;
    /// Faults: the findings from 0.
    size_t faults;
    /// Warnings: the findings after the faults.
    size_t warnings;
} tripcoil_report_summary;

/// Where a fault or a warning is.
typedef struct tripcoil_finding {
    /// 1 for a fault, 0 for a warning.
    int32_t is_fault;
    /// The rule's position in the document, from 0; -1 for the whole document.
    int64_t rule;
    /// The line, from 1; 0 where it is not known.
    uint64_t line;
} tripcoil_finding;

/// What the legacy check counts: sums over the last second.
typedef struct tripcoil_legacy_statistics {
    /// Calls admitted.
    uint64_t pass;
    /// Calls rejected.
    uint64_t block;
    /// Calls that ended, with an error or without.
    uint64_t success;
    /// Calls that ended with an error.
    uint64_t exception;
    /// Response times of the calls that ended, in ms, each capped at 4900.
    uint64_t rt;
} tripcoil_legacy_statistics;

/// It was done.
#define TRIPCOIL_OK 0

/// A breaker rejects the call, which must not be made. Not a fault.
#define TRIPCOIL_BLOCKED 1

/// The entry has been ended before, or was blocked; this end counts nowhere.
#define TRIPCOIL_ALREADY_ENDED 2

/// There is nothing of the kind: no such position, observer or trip.
#define TRIPCOIL_NOT_FOUND 3

/// The buffer is too small for the text: as much as fits was copied.
#define TRIPCOIL_BUFFER_TOO_SMALL 4

/// A reload has removed the breaker's rule; nothing was done.
#define TRIPCOIL_REMOVED 5

/// A pointer that must not be NULL is NULL.
#define TRIPCOIL_NULL_POINTER 10

/// The pointer is no handle of the kind, or one that has been freed, or is not aligned.
#define TRIPCOIL_INVALID_HANDLE 11

/// The entry has never been entered, or its memory has been overwritten.
#define TRIPCOIL_INVALID_ENTRY 12

/// A number is none of those that the function knows.
#define TRIPCOIL_INVALID_VALUE 13

/// A length is beyond what the function reads; nothing was read.
#define TRIPCOIL_INVALID_LENGTH 14

/// A text is not UTF-8.
#define TRIPCOIL_NOT_UTF8 15

/// A name has not 1 to 1024 bytes, is blank, or holds NUL.
#define TRIPCOIL_INVALID_NAME 16

/// A rule document has faults, which the report lists; nothing was changed.
#define TRIPCOIL_INVALID_RULES 17

/// A fault of the library: it has been reported to the standard error stream.
#define TRIPCOIL_PANIC 99

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Reads the state.
tripcoil_status tripcoil_breaker_state(const struct tripcoil_breaker *breaker, int32_t *state);

/// Reads state, counts, deadlines and totals, and changes nothing.
tripcoil_status tripcoil_breaker_snapshot(const struct tripcoil_breaker *breaker,
                                          struct tripcoil_snapshot *snapshot);

/// Reads why the breaker last opened. `TRIPCOIL_NOT_FOUND` where it never has.
tripcoil_status tripcoil_breaker_last_trip(const struct tripcoil_breaker *breaker,
                                           struct tripcoil_trip *trip);

/// Copies a sentence that explains the last trip. `TRIPCOIL_NOT_FOUND` where there has been none.
tripcoil_status tripcoil_breaker_explain(const struct tripcoil_breaker *breaker,
                                         char *buffer,
                                         size_t capacity,
                                         size_t *needed);

/// Copies the rule as it was when the handle was asked for, normalised, as JSON.
tripcoil_status tripcoil_breaker_rule(const struct tripcoil_breaker *breaker,
                                      char *buffer,
                                      size_t capacity,
                                      size_t *needed);

/// Sets the mode, which closes the breaker and clears its window, and announces it.
tripcoil_status tripcoil_breaker_set_mode(const struct tripcoil_breaker *breaker, int32_t mode);

/// Closes the breaker and clears its window within its mode, and announces it.
tripcoil_status tripcoil_breaker_reset(const struct tripcoil_breaker *breaker);

/// Frees the handle.
tripcoil_status tripcoil_breaker_free(struct tripcoil_breaker *breaker);

/// Makes a clock, at 0.
tripcoil_status tripcoil_clock_new(struct tripcoil_clock **clock);

/// Sets the time in ns, forward or back.
tripcoil_status tripcoil_clock_set(const struct tripcoil_clock *clock, uint64_t time_ns);

/// Moves the time forward by so many ns; it stays at 2^64 - 1.
tripcoil_status tripcoil_clock_advance(const struct tripcoil_clock *clock, uint64_t by_ns);

/// Reads the time in ns.
tripcoil_status tripcoil_clock_time(const struct tripcoil_clock *clock, uint64_t *time_ns);

/// Frees the handle.
tripcoil_status tripcoil_clock_free(struct tripcoil_clock *clock);

/// The name of an outcome: "good", "bad", "ignored", "cancelled". Static; "unknown" for other numbers.
const char *tripcoil_outcome_name(int32_t outcome);

/// The name of a state: "closed", "open", "half-open". Static; "unknown" for other numbers.
const char *tripcoil_state_name(int32_t state);

/// The name of a mode: "normal", "forced open", "disabled", "observe only". Static; "unknown" for other
/// numbers.
const char *tripcoil_mode_name(int32_t mode);

/// Asks for leave to make a call, and begins it. `TRIPCOIL_BLOCKED`: the call must not be made;
/// `tripcoil_entry_blocked` and `tripcoil_entry_explain` tell why. Whatever was in `*entry` is
/// overwritten. The resource's handle must not be freed before the entry is ended.
tripcoil_status tripcoil_resource_enter(const struct tripcoil_resource *resource,
                                        struct tripcoil_entry *entry);

/// Ends the call. Its response time is the time since it was entered. `outcome` is `TRIPCOIL_GOOD`,
/// `TRIPCOIL_BAD`, `TRIPCOIL_IGNORED` or `TRIPCOIL_CANCELLED`; after any other number the entry is still
/// open.
tripcoil_status tripcoil_entry_end(struct tripcoil_entry *entry, int32_t outcome);

/// Ends the call with a response time that the caller has measured.
tripcoil_status tripcoil_entry_end_with(struct tripcoil_entry *entry,
                                        int32_t outcome,
                                        uint64_t response_time_ns);

/// Makes a later good end of this call count as bad: for errors that do not show in what it returns.
tripcoil_status tripcoil_entry_mark_bad(struct tripcoil_entry *entry);

/// Reads why the call was blocked. `TRIPCOIL_NOT_FOUND` where it was not.
tripcoil_status tripcoil_entry_blocked(const struct tripcoil_entry *entry, struct tripcoil_blocked *blocked);

/// Copies a sentence that says why the call was blocked. `TRIPCOIL_NOT_FOUND` where it was not.
tripcoil_status tripcoil_entry_explain(const struct tripcoil_entry *entry,
                                       char *buffer,
                                       size_t capacity,
                                       size_t *needed);

/// Copies the rule whose breaker rejected the call, normalised, as JSON. `TRIPCOIL_NOT_FOUND` where the
/// call was not blocked, for the legacy check, and where the rules have been replaced several times since.
tripcoil_status tripcoil_entry_rule(const struct tripcoil_entry *entry,
                                    char *buffer,
                                    size_t capacity,
                                    size_t *needed);

/// Registers an observer under a name of 1 to 1024 bytes; one of the same name is replaced. `callback` is
/// told of every change of the registry's breakers after it has been made, once, and each breaker's in
/// their order; it may use the library, and changes that it makes are told when it has returned.
///
/// `destructor`, if it is not NULL, is called once with `user_data` when the observer has been removed or
/// replaced, or the registry is gone, and no thread is in the callback; on any thread. Only after
/// `TRIPCOIL_OK`: otherwise the user data stay the caller's.
tripcoil_status tripcoil_registry_observe(const struct tripcoil_registry *registry,
                                          const char *name,
                                          size_t name_len,
                                          tripcoil_observer callback,
                                          void *user_data,
                                          tripcoil_destructor destructor);

/// Removes an observer. `TRIPCOIL_NOT_FOUND` where there is none of the name. A thread that is in the
/// callback goes on to its end.
tripcoil_status tripcoil_registry_unobserve(const struct tripcoil_registry *registry,
                                            const char *name,
                                            size_t name_len);

/// Makes a registry of its own, without rules. `clock`: the source of time; NULL for the system's
/// monotonic clock. `max_resources`: the most resources that it keeps; 0 for no limit. A new name beyond
/// that takes the place of a resource that nobody holds a handle of and whose breakers are as new; where
/// there is none, its calls pass unguarded and are counted.
tripcoil_status tripcoil_registry_new(const struct tripcoil_clock *clock,
                                      uint64_t max_resources,
                                      struct tripcoil_registry **registry);

/// Gives a handle of the registry that the process shares. Freeing it leaves the registry as it is.
tripcoil_status tripcoil_registry_global(struct tripcoil_registry **registry);

/// Gives a handle of the resource of a name, which is made if it is new. Keep the handle: it skips the
/// look-up, and stays valid over reloads and beyond the registry's handle.
tripcoil_status tripcoil_registry_resource(const struct tripcoil_registry *registry,
                                           const char *name,
                                           size_t name_len,
                                           struct tripcoil_resource **resource);

/// Reads what the registry has counted.
tripcoil_status tripcoil_registry_count(const struct tripcoil_registry *registry,
                                        struct tripcoil_registry_counts *counts);

/// Reads what rule documents may take.
tripcoil_status tripcoil_registry_limits(const struct tripcoil_registry *registry,
                                         struct tripcoil_limits *limits);

/// Sets what rule documents that are loaded from now on may take. Read the limits first, and change those
/// that are to be others.
tripcoil_status tripcoil_registry_set_limits(const struct tripcoil_registry *registry,
                                             const struct tripcoil_limits *limits);

/// Copies the names of all known resources, as a JSON list of strings, sorted.
tripcoil_status tripcoil_registry_names(const struct tripcoil_registry *registry,
                                        char *buffer,
                                        size_t capacity,
                                        size_t *needed);

/// Frees the handle. The registry goes with the last handle of it and of its resources.
tripcoil_status tripcoil_registry_free(struct tripcoil_registry *registry);

/// Counts what a report holds.
tripcoil_status tripcoil_report_summarize(const struct tripcoil_report *report,
                                          struct tripcoil_report_summary *summary);

/// Reads where a finding is. `TRIPCOIL_NOT_FOUND` beyond the last one.
tripcoil_status tripcoil_report_finding(const struct tripcoil_report *report,
                                        size_t index,
                                        struct tripcoil_finding *finding);

/// Copies a text of a finding: `part` is one of the `TRIPCOIL_TEXT_` numbers. `TRIPCOIL_NOT_FOUND`
/// beyond the last finding, and where it has no such text.
tripcoil_status tripcoil_report_text(const struct tripcoil_report *report,
                                     size_t index,
                                     int32_t part,
                                     char *buffer,
                                     size_t capacity,
                                     size_t *needed);

/// Frees the report.
tripcoil_status tripcoil_report_free(struct tripcoil_report *report);

/// Copies the name.
tripcoil_status tripcoil_resource_name(const struct tripcoil_resource *resource,
                                       char *buffer,
                                       size_t capacity,
                                       size_t *needed);

/// Counts the breakers that guard the resource.
tripcoil_status tripcoil_resource_breaker_count(const struct tripcoil_resource *resource, size_t *count);

/// Gives a handle of a breaker, by its position in the order in which they are asked, from 0.
/// `TRIPCOIL_NOT_FOUND` beyond the last.
tripcoil_status tripcoil_resource_breaker(const struct tripcoil_resource *resource,
                                          size_t position,
                                          struct tripcoil_breaker **breaker);

/// Sets the mode of every breaker of the resource, and announces it.
tripcoil_status tripcoil_resource_set_mode(const struct tripcoil_resource *resource, int32_t mode);

/// Closes every breaker of the resource and clears its window, within its mode, and announces it.
tripcoil_status tripcoil_resource_reset(const struct tripcoil_resource *resource);

/// Tells whether calls pass unguarded (1, else 0) because a bounded registry had no place for the name.
tripcoil_status tripcoil_resource_is_unguarded(const struct tripcoil_resource *resource, int32_t *unguarded);

/// Reads what the legacy check counts. `TRIPCOIL_NOT_FOUND` where it is not in use.
tripcoil_status tripcoil_resource_legacy_statistics(const struct tripcoil_resource *resource,
                                                    struct tripcoil_legacy_statistics *statistics);

/// Frees the handle. Its entries must have been ended: a later end is `TRIPCOIL_INVALID_HANDLE` and
/// counts nowhere.
tripcoil_status tripcoil_resource_free(struct tripcoil_resource *resource);

/// Replaces all exact and regex rules by those of a JSON document (a list of rules or one rule, in
/// Sentinel's or sentinel-golang's form), or, if anything in it is wrong, changes nothing:
/// `TRIPCOIL_INVALID_RULES`. A rule that is loaded already keeps its breaker with state and window.
///
/// Here and in the other loads, a report is given where `report` is not NULL and the document was read,
/// whatever it came to; otherwise `*report` is NULL. Documents that are longer
/// than the registry's limits allow are `TRIPCOIL_INVALID_LENGTH`.
tripcoil_status tripcoil_registry_load(const struct tripcoil_registry *registry,
                                       const char *text,
                                       size_t text_len,
                                       struct tripcoil_report **report);

/// As `tripcoil_registry_load`, but takes the valid rules where some are not; the report has the faults of
/// the others. `TRIPCOIL_INVALID_RULES` only for a document that cannot be read as a whole.
tripcoil_status tripcoil_registry_load_lenient(const struct tripcoil_registry *registry,
                                               const char *text,
                                               size_t text_len,
                                               struct tripcoil_report **report);

/// Replaces the exact rules of one resource. A rule with another resource, or with `regex`, is a fault.
tripcoil_status tripcoil_registry_load_resource(const struct tripcoil_registry *registry,
                                                const char *name,
                                                size_t name_len,
                                                const char *text,
                                                size_t text_len,
                                                struct tripcoil_report **report);

/// Gives a resource rules of its own, in the place of those it had: what the code that calls it says. They
/// guard it while no rule that is loaded for its name does, and default rules then do not; loads leave them.
/// A bounded registry forgets them with the resource, and takes none for a name that it has no place for.
tripcoil_status tripcoil_registry_set_own(const struct tripcoil_registry *registry,
                                          const char *name,
                                          size_t name_len,
                                          const char *text,
                                          size_t text_len,
                                          struct tripcoil_report **report);

/// Replaces the default rules, whose resource is `*`: they guard every resource that no other rule
/// matches and that is not excluded, each with breakers of its own.
tripcoil_status tripcoil_registry_load_defaults(const struct tripcoil_registry *registry,
                                                const char *text,
                                                size_t text_len,
                                                struct tripcoil_report **report);

/// Chooses the check that Sentinel made before 1.8, and replaces its rules. `release` is
/// `TRIPCOIL_LEGACY_1_6` or `TRIPCOIL_LEGACY_1_7`. It is apart from the breakers.
tripcoil_status tripcoil_registry_load_legacy(const struct tripcoil_registry *registry,
                                              int32_t release,
                                              const char *text,
                                              size_t text_len,
                                              struct tripcoil_report **report);

/// Takes a name out of the default rules' guard.
tripcoil_status tripcoil_registry_exclude(const struct tripcoil_registry *registry,
                                          const char *name,
                                          size_t name_len);

/// Puts an excluded name back under the default rules' guard.
tripcoil_status tripcoil_registry_include(const struct tripcoil_registry *registry,
                                          const char *name,
                                          size_t name_len);

/// Copies the names that default rules do not guard, as a JSON list of strings, sorted.
tripcoil_status tripcoil_registry_excluded(const struct tripcoil_registry *registry,
                                           char *buffer,
                                           size_t capacity,
                                           size_t *needed);

/// Copies all rules that are loaded, normalised, as a JSON list: exact ones, then regex ones, then
/// default ones.
tripcoil_status tripcoil_registry_rules(const struct tripcoil_registry *registry,
                                        char *buffer,
                                        size_t capacity,
                                        size_t *needed);

/// Reads a document of ordinary rules and loads nothing: its report, and its valid rules, normalised, as
/// a JSON list. The report is given as by `tripcoil_registry_load`, also where the buffer is too small.
/// `TRIPCOIL_INVALID_RULES` where it has faults, unless the buffer is at fault.
tripcoil_status tripcoil_rules_read(const char *text,
                                    size_t text_len,
                                    struct tripcoil_report **report,
                                    char *buffer,
                                    size_t capacity,
                                    size_t *needed);

/// The name of a status, as it is spelt here: "TRIPCOIL_BLOCKED". Static; "unknown" for other numbers.
const char *tripcoil_status_name(tripcoil_status status);

/// What a status means, in a few words. Static; "unknown status" for other numbers.
const char *tripcoil_status_message(tripcoil_status status);

/// The version of the library in use: "0.1.0". Static. `TRIPCOIL_VERSION` is the header's.
const char *tripcoil_version(void);

/// The version as a number: major * 1000000 + minor * 1000 + patch. `TRIPCOIL_VERSION_NUMBER` is the
/// header's; a program that was built with another one can ask
/// `tripcoil_version_number() == TRIPCOIL_VERSION_NUMBER`.
uint32_t tripcoil_version_number(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TRIPCOIL_H */
