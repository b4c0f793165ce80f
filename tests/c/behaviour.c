/* What the border between C and the library could spoil. */
#include <string.h>

#include "check.h"

struct told {
    int changes, destroyed, from, to, mode;
    double snapshot;
    uint64_t last_sequence;
    char resource[32], explanation[256];
    const struct world *world;
};

static void tell(void *user_data, const tripcoil_change *change)
{
    struct told *told = user_data;

    told->changes++;
    told->from = change->from;
    told->to = change->to;
    told->mode = change->to_mode;
    told->snapshot = change->has_snapshot ? change->snapshot : -1;
    CHECK(change->sequence == told->last_sequence + 1);
    told->last_sequence = change->sequence;
    CHECK(change->resource_len < sizeof told->resource && change->rule_len > 2);
    memcpy(told->resource, change->resource, change->resource_len);
    told->resource[change->resource_len] = 0;
    CHECK((change->trip != NULL) == (change->to == TRIPCOIL_OPEN));
    if (change->trip != NULL && change->trip->cause == TRIPCOIL_CAUSE_CONDITION) {
        CHECK(change->explanation_len < sizeof told->explanation);
        memcpy(told->explanation, change->explanation, change->explanation_len);
        told->explanation[change->explanation_len] = 0;
    }
    /* It may use the library, and what it holds is not locked. */
    CHECK(state_of(told->world->stock) == change->to);
}

static void destroy(void *user_data)
{
    ((struct told *)user_data)->destroyed++;
}

static void trips_explains_and_recovers(void)
{
    struct world w = world_new();
    struct told told = {0, 0, 0, 0, 0, 0, 0, "", "", NULL};
    tripcoil_entry entry, probe;
    tripcoil_blocked blocked;
    tripcoil_breaker *breaker;
    tripcoil_trip trip;
    tripcoil_snapshot snapshot;
    char text[512], again[512];

    told.world = &w;
    OK(tripcoil_registry_observe(w.registry, TRIPCOIL_STR("test"), tell, &told, destroy));
    OK(tripcoil_resource_breaker(w.stock, 0, &breaker));
    IS(TRIPCOIL_NOT_FOUND, tripcoil_breaker_last_trip(breaker, &trip));
    IS(TRIPCOIL_NOT_FOUND, tripcoil_breaker_explain(breaker, text, sizeof text, NULL));

    OK(tripcoil_clock_set(w.clock, 3 * SECOND));
    call(w.stock, TRIPCOIL_GOOD);
    call(w.stock, TRIPCOIL_BAD);
    CHECK(told.changes == 1 && told.to == TRIPCOIL_OPEN && told.snapshot == 0.5);
    CHECK(strcmp(told.resource, "stock") == 0 && strstr(told.explanation, "1 of 2 calls") != NULL);
    OK(tripcoil_breaker_last_trip(breaker, &trip));
    CHECK(trip.good == 1 && trip.bad == 1 && trip.value == 0.5 && trip.threshold == 0.4);
    CHECK(trip.at_ns == 3 * SECOND && trip.open_until_ns == 13 * SECOND);
    OK(tripcoil_breaker_explain(breaker, text, sizeof text, NULL));
    CHECK(strcmp(text, told.explanation) == 0);

    IS(TRIPCOIL_BLOCKED, tripcoil_resource_enter(w.stock, &entry));
    IS(TRIPCOIL_ALREADY_ENDED, tripcoil_entry_end(&entry, TRIPCOIL_GOOD));
    OK(tripcoil_clock_advance(w.clock, SECOND));
    OK(tripcoil_entry_blocked(&entry, &blocked));
    CHECK(blocked.state == TRIPCOIL_OPEN && blocked.mode == TRIPCOIL_NORMAL);
    CHECK(blocked.retry_after_ns == 10 * SECOND);
    OK(tripcoil_entry_explain(&entry, text, sizeof text, NULL));
    CHECK(strstr(text, "stock") != NULL && strstr(text, "is open, next probe in 10s") != NULL);
    OK(tripcoil_entry_rule(&entry, text, sizeof text, NULL));
    OK(tripcoil_breaker_rule(breaker, again, sizeof again, NULL));
    CHECK(strcmp(text, again) == 0 && strstr(text, "\"count\":0.4") != NULL);

    OK(tripcoil_clock_set(w.clock, 13 * SECOND));
    OK(tripcoil_resource_enter(w.stock, &probe));
    IS(TRIPCOIL_NOT_FOUND, tripcoil_entry_blocked(&probe, &blocked));
    IS(TRIPCOIL_BLOCKED, tripcoil_resource_enter(w.stock, &entry));
    OK(tripcoil_entry_end(&probe, TRIPCOIL_CANCELLED)); /* its place is free at once */
    OK(tripcoil_resource_enter(w.stock, &probe));
    OK(tripcoil_entry_end(&probe, TRIPCOIL_GOOD));
    CHECK(state_of(w.stock) == TRIPCOIL_CLOSED && told.to == TRIPCOIL_CLOSED && told.snapshot == -1);
    OK(tripcoil_breaker_snapshot(breaker, &snapshot));
    CHECK(snapshot.total_passed == 4 && snapshot.total_blocked == 2 && snapshot.total_cancelled == 1);
    CHECK(snapshot.good == 0 && snapshot.bad == 0 && snapshot.retry_after_ns == TRIPCOIL_NEVER);

    CHECK(told.destroyed == 0);
    OK(tripcoil_registry_unobserve(w.registry, TRIPCOIL_STR("test")));
    CHECK(told.destroyed == 1);
    IS(TRIPCOIL_NOT_FOUND, tripcoil_registry_unobserve(w.registry, TRIPCOIL_STR("test")));
    OK(tripcoil_breaker_free(breaker));
    world_free(&w);
}

static void outcomes_count_as_they_are(void)
{
    struct world w = world_new();
    tripcoil_entry entry, moved;
    tripcoil_breaker *breaker;
    tripcoil_snapshot snapshot;

    OK(tripcoil_resource_breaker(w.stock, 0, &breaker));
    call(w.stock, TRIPCOIL_GOOD);
    call(w.stock, TRIPCOIL_GOOD);
    call(w.stock, TRIPCOIL_GOOD);
    call(w.stock, TRIPCOIL_IGNORED);
    call(w.stock, TRIPCOIL_CANCELLED);
    OK(tripcoil_resource_enter(w.stock, &entry));
    OK(tripcoil_entry_mark_bad(&entry));
    OK(tripcoil_entry_mark_bad(&entry));
    moved = entry; /* may be moved; the old place is not used any more */
    OK(tripcoil_entry_end(&moved, TRIPCOIL_GOOD));
    IS(TRIPCOIL_ALREADY_ENDED, tripcoil_entry_end(&moved, TRIPCOIL_BAD));
    IS(TRIPCOIL_ALREADY_ENDED, tripcoil_entry_mark_bad(&moved));
    OK(tripcoil_resource_enter(w.stock, &entry));
    OK(tripcoil_entry_mark_bad(&entry)); /* of no effect on an end that is not good */
    OK(tripcoil_entry_end(&entry, TRIPCOIL_IGNORED));
    OK(tripcoil_breaker_snapshot(breaker, &snapshot));
    CHECK(snapshot.good == 3 && snapshot.bad == 1);
    CHECK(snapshot.total_ignored == 2 && snapshot.total_cancelled == 1);
    OK(tripcoil_breaker_free(breaker));
    world_free(&w);
}

/* A response time of the caller's counts, up to 2^64 - 1, and the clock's otherwise. */
static void response_times(void)
{
    struct world w = world_new();
    tripcoil_entry entry;
    tripcoil_breaker *breaker;
    tripcoil_snapshot snapshot;

    OK(tripcoil_registry_load(w.registry,
                              TRIPCOIL_STR("[{\"resource\":\"stock\",\"count\":50,\"timeWindow\":1,"
                                           "\"minRequestAmount\":100}]"), NULL));
    OK(tripcoil_resource_breaker(w.stock, 0, &breaker));
    OK(tripcoil_resource_enter(w.stock, &entry));
    OK(tripcoil_entry_end_with(&entry, TRIPCOIL_GOOD, 50000000));
    OK(tripcoil_resource_enter(w.stock, &entry));
    OK(tripcoil_entry_end_with(&entry, TRIPCOIL_GOOD, 50000001));
    OK(tripcoil_resource_enter(w.stock, &entry));
    OK(tripcoil_entry_end_with(&entry, TRIPCOIL_GOOD, UINT64_MAX));
    OK(tripcoil_resource_enter(w.stock, &entry));
    OK(tripcoil_clock_advance(w.clock, 60000000));
    OK(tripcoil_entry_end(&entry, TRIPCOIL_GOOD));
    OK(tripcoil_breaker_snapshot(breaker, &snapshot));
    CHECK(snapshot.good == 1 && snapshot.bad == 3);
    OK(tripcoil_breaker_free(breaker));
    world_free(&w);
}

/* More rules than an entry has room for: it then owns memory, which its end gives back. */
static void many_rules(void)
{
    struct world w = world_new();
    tripcoil_entry entry;
    size_t count, i;
    tripcoil_breaker *breaker;
    tripcoil_snapshot snapshot;

    OK(tripcoil_registry_load(w.registry,
        TRIPCOIL_STR("[{\"resource\":\"stock\",\"grade\":2,\"count\":1,\"timeWindow\":1},"
                     "{\"resource\":\"stock\",\"grade\":2,\"count\":2,\"timeWindow\":1},"
                     "{\"resource\":\"stock\",\"grade\":2,\"count\":3,\"timeWindow\":1},"
                     "{\"resource\":\"st.*\",\"grade\":2,\"count\":4,\"timeWindow\":1,\"regex\":true}]"), NULL));
    OK(tripcoil_resource_breaker_count(w.stock, &count));
    CHECK(count == 4);
    OK(tripcoil_resource_enter(w.stock, &entry));
    OK(tripcoil_entry_end(&entry, TRIPCOIL_BAD));
    IS(TRIPCOIL_ALREADY_ENDED, tripcoil_entry_end(&entry, TRIPCOIL_BAD));
    for (i = 0; i < count; i++) {
        OK(tripcoil_resource_breaker(w.stock, i, &breaker));
        OK(tripcoil_breaker_snapshot(breaker, &snapshot));
        CHECK(snapshot.bad == 1 && snapshot.total_passed == 1);
        OK(tripcoil_breaker_free(breaker));
    }
    world_free(&w);
}

static void modes_and_reset(void)
{
    struct world w = world_new();
    struct told told = {0, 0, 0, 0, 0, 0, 0, "", "", NULL};
    tripcoil_entry entry;
    tripcoil_blocked blocked;
    tripcoil_breaker *breaker;

    told.world = &w;
    OK(tripcoil_registry_observe(w.registry, TRIPCOIL_STR("test"), tell, &told, destroy));
    OK(tripcoil_resource_set_mode(w.stock, TRIPCOIL_FORCED_OPEN));
    CHECK(told.changes == 1 && told.mode == TRIPCOIL_FORCED_OPEN);
    IS(TRIPCOIL_BLOCKED, tripcoil_resource_enter(w.stock, &entry));
    OK(tripcoil_entry_blocked(&entry, &blocked));
    CHECK(blocked.mode == TRIPCOIL_FORCED_OPEN && blocked.retry_after_ns == TRIPCOIL_NEVER);
    OK(tripcoil_resource_breaker(w.stock, 0, &breaker));
    OK(tripcoil_breaker_set_mode(breaker, TRIPCOIL_NORMAL));
    call(w.stock, TRIPCOIL_BAD);
    call(w.stock, TRIPCOIL_BAD);
    CHECK(state_of(w.stock) == TRIPCOIL_OPEN);
    OK(tripcoil_breaker_reset(breaker));
    CHECK(state_of(w.stock) == TRIPCOIL_CLOSED);
    OK(tripcoil_registry_load(w.registry, TRIPCOIL_STR("[]"), NULL));
    IS(TRIPCOIL_REMOVED, tripcoil_breaker_reset(breaker));
    IS(TRIPCOIL_REMOVED, tripcoil_breaker_set_mode(breaker, TRIPCOIL_DISABLED));
    OK(tripcoil_breaker_free(breaker));
    world_free(&w);
    CHECK(told.destroyed == 1); /* the registry is gone, and with it the observer */
}

static void rules_and_reports(void)
{
    static const char faulty[] = "[{\"resource\":\"a\",\"grade\":1,\"count\":0.5,\"timeWindow\":1,\"app\":\"x\"},\n"
                                 " {\"resource\":\"b\",\"grade\":1,\"count\":-0.1,\"timeWindow\":1}]";
    struct world w = world_new();
    tripcoil_report *report = NULL;
    tripcoil_report_summary summary;
    tripcoil_finding finding;
    tripcoil_registry_counts counts;
    tripcoil_legacy_statistics statistics;
    tripcoil_resource *other;
    char text[2048];
    size_t count;

    IS(TRIPCOIL_INVALID_RULES, tripcoil_registry_load(w.registry, faulty, sizeof faulty - 1, &report));
    OK(tripcoil_resource_breaker_count(w.stock, &count));
    CHECK(count == 1); /* nothing was changed */
    OK(tripcoil_report_summarize(report, &summary));
    CHECK(summary.faults == 1);
    OK(tripcoil_report_finding(report, 0, &finding));
    CHECK(finding.is_fault == 1 && finding.rule == 1 && finding.line == 2);
    OK(tripcoil_report_text(report, 0, TRIPCOIL_TEXT_FIELD, text, sizeof text, NULL));
    CHECK(strcmp(text, "count") == 0);
    OK(tripcoil_report_text(report, 0, TRIPCOIL_TEXT_VALUE, text, sizeof text, NULL));
    CHECK(strcmp(text, "-0.1") == 0);
    OK(tripcoil_report_text(report, 0, TRIPCOIL_TEXT_RESOURCE, text, sizeof text, NULL));
    CHECK(strcmp(text, "b") == 0);
    OK(tripcoil_report_text(report, 0, TRIPCOIL_TEXT_MESSAGE, text, sizeof text, NULL));
    CHECK(strstr(text, "-0.1") != NULL && strstr(text, "line 2") != NULL);
    OK(tripcoil_report_free(report));

    OK(tripcoil_registry_load_lenient(w.registry, faulty, sizeof faulty - 1, &report));
    OK(tripcoil_report_summarize(report, &summary));
    CHECK(summary.rules == 1 && summary.faults == 1 && summary.warnings == 1);
    OK(tripcoil_report_finding(report, 1, &finding));
    CHECK(finding.is_fault == 0 && finding.rule == 0 && finding.line == 1);
    OK(tripcoil_report_free(report));

    OK(tripcoil_registry_load_resource(w.registry, TRIPCOIL_STR("stock"), RULE("stock"), NULL));
    OK(tripcoil_registry_set_own(w.registry, TRIPCOIL_STR("own"), RULE("own"), NULL));
    OK(tripcoil_registry_load_defaults(w.registry, RULE("*"), NULL));
    OK(tripcoil_registry_rules(w.registry, text, sizeof text, NULL));
    CHECK(strstr(text, "\"resource\":\"a\"") && strstr(text, "\"resource\":\"*\""));
    CHECK(strstr(text, "\"resource\":\"own\""));
    OK(tripcoil_registry_resource(w.registry, TRIPCOIL_STR("other"), &other));
    OK(tripcoil_resource_breaker_count(other, &count));
    CHECK(count == 1);
    OK(tripcoil_registry_exclude(w.registry, TRIPCOIL_STR("other")));
    OK(tripcoil_registry_excluded(w.registry, text, sizeof text, NULL));
    CHECK(strcmp(text, "[\"other\"]") == 0);
    OK(tripcoil_resource_breaker_count(other, &count));
    CHECK(count == 0);
    OK(tripcoil_registry_include(w.registry, TRIPCOIL_STR("other")));
    OK(tripcoil_resource_breaker_count(other, &count));
    CHECK(count == 1);
    OK(tripcoil_registry_count(w.registry, &counts));
    OK(tripcoil_registry_names(w.registry, text, sizeof text, NULL));
    CHECK(counts.resources == 3 && strcmp(text, "[\"other\",\"own\",\"stock\"]") == 0);

    IS(TRIPCOIL_NOT_FOUND, tripcoil_resource_legacy_statistics(other, &statistics));
    OK(tripcoil_registry_load_legacy(w.registry, TRIPCOIL_LEGACY_1_7,
                                     TRIPCOIL_STR("[{\"resource\":\"other\",\"grade\":2,\"count\":1,\"timeWindow\":5}]"), NULL));
    call(other, TRIPCOIL_BAD);
    {
        tripcoil_entry entry;
        tripcoil_blocked blocked;

        IS(TRIPCOIL_BLOCKED, tripcoil_resource_enter(other, &entry));
        OK(tripcoil_entry_blocked(&entry, &blocked));
        CHECK(blocked.retry_after_ns == 5 * SECOND);
        OK(tripcoil_entry_explain(&entry, text, sizeof text, NULL));
        CHECK(strstr(text, "legacy check") != NULL);
        IS(TRIPCOIL_NOT_FOUND, tripcoil_entry_rule(&entry, text, sizeof text, NULL));
    }
    OK(tripcoil_resource_legacy_statistics(other, &statistics));
    CHECK(statistics.pass == 1 && statistics.block == 1 && statistics.exception == 1);
    OK(tripcoil_resource_free(other));
    world_free(&w);
}

static void bounded_registry(void)
{
    tripcoil_registry *registry;
    tripcoil_resource *first, *second;
    tripcoil_registry_counts counts;
    int32_t unguarded;

    OK(tripcoil_registry_new(NULL, 1, &registry));
    OK(tripcoil_registry_resource(registry, TRIPCOIL_STR("first"), &first));
    OK(tripcoil_registry_resource(registry, TRIPCOIL_STR("second"), &second));
    OK(tripcoil_resource_is_unguarded(first, &unguarded));
    CHECK(unguarded == 0);
    OK(tripcoil_resource_is_unguarded(second, &unguarded));
    CHECK(unguarded == 1);
    call(second, TRIPCOIL_BAD);
    OK(tripcoil_registry_count(registry, &counts));
    CHECK(counts.resources == 1 && counts.unguarded_calls == 1);
    OK(tripcoil_resource_free(second));
    OK(tripcoil_resource_free(first));
    OK(tripcoil_registry_free(registry));
}

static void limits_of_documents(void)
{
    struct world w = world_new();
    tripcoil_limits limits;
    tripcoil_report *report;
    tripcoil_report_summary summary;

    OK(tripcoil_registry_limits(w.registry, &limits));
    CHECK(limits.document_bytes == 16u << 20 && limits.rules == 1000000 && limits.pattern_bytes == 1u << 20);
    CHECK(limits.patterns_bytes == 64u << 20 && limits.listed == 1000);
    limits.document_bytes = 100;
    limits.rules = 8;
    limits.listed = 1;
    OK(tripcoil_registry_set_limits(w.registry, &limits));
    CHECK(tripcoil_registry_load(w.registry, TRIPCOIL_STR("[1, 2, 3]"), &report) == TRIPCOIL_INVALID_RULES);
    OK(tripcoil_report_summarize(report, &summary));
    /* One, and one that says that there are two more. */
    CHECK(summary.faults == 2);
    OK(tripcoil_report_free(report));
    CHECK(tripcoil_registry_load(w.registry, TRIPCOIL_STR("[1,2,3,4,5,6,7,8,9]"), &report) == TRIPCOIL_INVALID_RULES);
    OK(tripcoil_report_summarize(report, &summary));
    CHECK(summary.faults == 1);
    OK(tripcoil_report_free(report));
    CHECK(tripcoil_registry_load(w.registry, "[]", 101, NULL) == TRIPCOIL_INVALID_LENGTH);
    OK(tripcoil_registry_load(w.registry, TRIPCOIL_STR("[]"), NULL));

    /* Limits without an end, and limits that nothing keeps, are taken as they are. */
    memset(&limits, 0xff, sizeof limits);
    OK(tripcoil_registry_set_limits(w.registry, &limits));
    OK(tripcoil_registry_load(w.registry, RULE("a"), NULL));
    CHECK(tripcoil_registry_load(w.registry, "[]", (size_t)-1, NULL) == TRIPCOIL_INVALID_LENGTH);
    memset(&limits, 0, sizeof limits);
    OK(tripcoil_registry_set_limits(w.registry, &limits));
    CHECK(tripcoil_registry_load(w.registry, TRIPCOIL_STR("[]"), NULL) == TRIPCOIL_INVALID_LENGTH);
    CHECK(tripcoil_registry_load(w.registry, "", 0, NULL) == TRIPCOIL_INVALID_RULES);
    world_free(&w);
}

static void global_registry_and_names(void)
{
    tripcoil_registry *one, *two;
    tripcoil_resource *resource;
    size_t count;

    OK(tripcoil_registry_global(&one));
    OK(tripcoil_registry_load(one, RULE("shared"), NULL));
    OK(tripcoil_registry_free(one));
    OK(tripcoil_registry_global(&two));
    OK(tripcoil_registry_resource(two, TRIPCOIL_STR("shared"), &resource));
    OK(tripcoil_resource_breaker_count(resource, &count));
    CHECK(count == 1);
    OK(tripcoil_resource_free(resource));
    OK(tripcoil_registry_load(two, TRIPCOIL_STR("[]"), NULL));
    OK(tripcoil_registry_free(two));

    CHECK(strcmp(tripcoil_version(), TRIPCOIL_VERSION) == 0);
    CHECK(tripcoil_version_number() == TRIPCOIL_VERSION_NUMBER);
    CHECK(strcmp(tripcoil_status_name(TRIPCOIL_INVALID_RULES), "TRIPCOIL_INVALID_RULES") == 0);
    CHECK(strcmp(tripcoil_status_name(12345), "unknown") == 0);
    CHECK(strlen(tripcoil_status_message(TRIPCOIL_PANIC)) > 5);
    CHECK(strcmp(tripcoil_state_name(TRIPCOIL_HALF_OPEN), "half-open") == 0);
    CHECK(strcmp(tripcoil_mode_name(TRIPCOIL_OBSERVE_ONLY), "observe only") == 0);
    CHECK(strcmp(tripcoil_outcome_name(TRIPCOIL_CANCELLED), "cancelled") == 0);
    CHECK(strcmp(tripcoil_state_name(-7), "unknown") == 0);
}

int main(void)
{
    trips_explains_and_recovers();
    outcomes_count_as_they_are();
    response_times();
    many_rules();
    modes_and_reset();
    rules_and_reports();
    bounded_registry();
    limits_of_documents();
    global_registry_and_names();
    puts("behaviour: as in Rust");
    return 0;
}
