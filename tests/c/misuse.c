/* Misuse is answered with a status and executed by nobody: acceptance 25. */
#include <string.h>

#include "check.h"

#define HUGE_LENGTH ((size_t)-1)

static void nulls(struct world *w)
{
    tripcoil_registry *registry;
    tripcoil_resource *resource;
    tripcoil_breaker *breaker;
    tripcoil_entry entry;
    tripcoil_snapshot snapshot;
    tripcoil_trip trip;
    tripcoil_blocked blocked;
    tripcoil_report_summary summary;
    tripcoil_finding finding;
    tripcoil_registry_counts counts;
    tripcoil_limits limits;
    tripcoil_legacy_statistics statistics;
    uint64_t time;
    int32_t number;
    size_t needed;
    char buffer[8];
    const tripcoil_status null = TRIPCOIL_NULL_POINTER;

    IS(null, tripcoil_clock_new(NULL));
    IS(null, tripcoil_clock_set(NULL, 1));
    IS(null, tripcoil_clock_advance(NULL, 1));
    IS(null, tripcoil_clock_time(NULL, &time));
    IS(null, tripcoil_clock_time(w->clock, NULL));
    IS(null, tripcoil_registry_new(NULL, 0, NULL));
    IS(null, tripcoil_registry_global(NULL));
    IS(null, tripcoil_registry_resource(NULL, TRIPCOIL_STR("a"), &resource));
    IS(null, tripcoil_registry_resource(w->registry, NULL, 1, &resource));
    IS(null, tripcoil_registry_resource(w->registry, TRIPCOIL_STR("a"), NULL));
    IS(null, tripcoil_registry_count(NULL, &counts));
    IS(null, tripcoil_registry_count(w->registry, NULL));
    IS(null, tripcoil_registry_limits(NULL, &limits));
    IS(null, tripcoil_registry_limits(w->registry, NULL));
    IS(null, tripcoil_registry_set_limits(NULL, &limits));
    IS(null, tripcoil_registry_set_limits(w->registry, NULL));
    IS(null, tripcoil_registry_names(NULL, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_registry_names(w->registry, NULL, 8, &needed));
    IS(null, tripcoil_registry_names(w->registry, NULL, 0, NULL));
    IS(null, tripcoil_registry_load(NULL, RULE("a"), NULL));
    IS(null, tripcoil_registry_load(w->registry, NULL, 2, NULL));
    IS(null, tripcoil_registry_load_lenient(NULL, RULE("a"), NULL));
    IS(null, tripcoil_registry_load_defaults(NULL, RULE("*"), NULL));
    IS(null, tripcoil_registry_load_resource(w->registry, NULL, 1, RULE("a"), NULL));
    IS(null, tripcoil_registry_set_own(w->registry, NULL, 1, RULE("a"), NULL));
    IS(null, tripcoil_registry_load_legacy(NULL, TRIPCOIL_LEGACY_1_6, RULE("a"), NULL));
    IS(null, tripcoil_registry_exclude(NULL, TRIPCOIL_STR("a")));
    IS(null, tripcoil_registry_include(w->registry, NULL, 1));
    IS(null, tripcoil_registry_excluded(NULL, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_registry_rules(NULL, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_registry_observe(w->registry, TRIPCOIL_STR("a"), NULL, NULL, NULL));
    IS(null, tripcoil_registry_unobserve(NULL, TRIPCOIL_STR("a")));
    IS(null, tripcoil_rules_read(NULL, 1, NULL, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_report_summarize(NULL, &summary));
    IS(null, tripcoil_report_finding(NULL, 0, &finding));
    IS(null, tripcoil_report_text(NULL, 0, 0, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_resource_enter(NULL, &entry));
    IS(TRIPCOIL_INVALID_ENTRY, tripcoil_entry_end(&entry, TRIPCOIL_GOOD));
    IS(null, tripcoil_resource_enter(w->stock, NULL));
    IS(null, tripcoil_resource_name(NULL, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_resource_breaker_count(w->stock, NULL));
    IS(null, tripcoil_resource_breaker(NULL, 0, &breaker));
    IS(null, tripcoil_resource_breaker(w->stock, 0, NULL));
    IS(null, tripcoil_resource_set_mode(NULL, TRIPCOIL_NORMAL));
    IS(null, tripcoil_resource_reset(NULL));
    IS(null, tripcoil_resource_is_unguarded(w->stock, NULL));
    IS(null, tripcoil_resource_legacy_statistics(NULL, &statistics));
    IS(null, tripcoil_entry_end(NULL, TRIPCOIL_GOOD));
    IS(null, tripcoil_entry_end_with(NULL, TRIPCOIL_GOOD, 1));
    IS(null, tripcoil_entry_mark_bad(NULL));
    IS(null, tripcoil_entry_blocked(NULL, &blocked));
    IS(null, tripcoil_entry_explain(NULL, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_entry_rule(NULL, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_breaker_state(NULL, &number));
    IS(null, tripcoil_breaker_snapshot(NULL, &snapshot));
    IS(null, tripcoil_breaker_last_trip(NULL, &trip));
    IS(null, tripcoil_breaker_explain(NULL, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_breaker_rule(NULL, buffer, sizeof buffer, NULL));
    IS(null, tripcoil_breaker_set_mode(NULL, TRIPCOIL_NORMAL));
    IS(null, tripcoil_breaker_reset(NULL));

    OK(tripcoil_clock_free(NULL));
    OK(tripcoil_registry_free(NULL));
    OK(tripcoil_resource_free(NULL));
    OK(tripcoil_breaker_free(NULL));
    OK(tripcoil_report_free(NULL));
    /* NULL that means something. */
    OK(tripcoil_registry_new(NULL, 0, &registry));
    OK(tripcoil_registry_load(registry, RULE("a"), NULL));
    OK(tripcoil_registry_free(registry));
}

/* A freed handle is told by every function of its kind, also when it is freed again. */
static void freed(struct world *w)
{
    tripcoil_registry *registry;
    tripcoil_resource *resource;
    tripcoil_breaker *breaker;
    tripcoil_clock *clock;
    tripcoil_entry entry, late;
    tripcoil_snapshot snapshot;
    int round;
    const tripcoil_status invalid = TRIPCOIL_INVALID_HANDLE;

    OK(tripcoil_clock_new(&clock));
    OK(tripcoil_registry_new(clock, 0, &registry));
    OK(tripcoil_registry_resource(registry, TRIPCOIL_STR("gone"), &resource));
    OK(tripcoil_registry_load(registry, RULE("gone"), NULL));
    OK(tripcoil_resource_breaker(resource, 0, &breaker));
    OK(tripcoil_resource_enter(resource, &late));
    OK(tripcoil_registry_free(registry));
    OK(tripcoil_resource_enter(resource, &entry)); /* outlives its registry's handle */
    OK(tripcoil_entry_end(&entry, TRIPCOIL_GOOD));
    OK(tripcoil_resource_free(resource));
    OK(tripcoil_clock_free(clock));
    OK(tripcoil_breaker_snapshot(breaker, &snapshot));
    CHECK(snapshot.good == 1);
    OK(tripcoil_breaker_free(breaker));
    for (round = 0; round < 2; round++) {
        IS(invalid, tripcoil_registry_free(registry));
        IS(invalid, tripcoil_resource_free(resource));
        IS(invalid, tripcoil_breaker_free(breaker));
        IS(invalid, tripcoil_clock_free(clock));
    }
    IS(invalid, tripcoil_registry_load(registry, RULE("gone"), NULL));
    IS(invalid, tripcoil_resource_enter(resource, &entry));
    IS(TRIPCOIL_INVALID_ENTRY, tripcoil_entry_end(&entry, TRIPCOIL_GOOD));
    IS(invalid, tripcoil_breaker_snapshot(breaker, &snapshot));
    IS(invalid, tripcoil_clock_set(clock, 1));
    IS(invalid, tripcoil_registry_new(clock, 0, &registry));
    IS(invalid, tripcoil_entry_end(&late, TRIPCOIL_BAD));
    IS(TRIPCOIL_ALREADY_ENDED, tripcoil_entry_end(&late, TRIPCOIL_BAD));
    (void)w;
}

/* An entry never ends on another resource that has come to its handle's place. */
static void reused(struct world *w)
{
    enum { MANY = 1100 };
    tripcoil_resource *first, *next = NULL;
    tripcoil_entry entry;
    tripcoil_breaker *breaker;
    tripcoil_snapshot snapshot;
    int i, met = 0;

    OK(tripcoil_registry_resource(w->registry, TRIPCOIL_STR("stock"), &first));
    OK(tripcoil_resource_enter(first, &entry));
    OK(tripcoil_resource_free(first));
    for (i = 0; i < MANY && !met; i++) {
        OK(tripcoil_registry_resource(w->registry, TRIPCOIL_STR("stock"), &next));
        met = next == first;
        if (!met)
            OK(tripcoil_resource_free(next));
    }
    CHECK(met && i > 1000);
    IS(TRIPCOIL_INVALID_HANDLE, tripcoil_entry_end(&entry, TRIPCOIL_BAD));
    OK(tripcoil_resource_breaker(next, 0, &breaker));
    OK(tripcoil_breaker_snapshot(breaker, &snapshot));
    CHECK(snapshot.bad == 0);
    OK(tripcoil_breaker_free(breaker));
    OK(tripcoil_resource_free(next));
}

static void foreign(struct world *w)
{
    uint64_t memory[16];
    tripcoil_entry entry = TRIPCOIL_ENTRY_INIT;
    tripcoil_resource *resource;
    unsigned char bytes[sizeof(tripcoil_entry) + 1];
    const tripcoil_status invalid = TRIPCOIL_INVALID_HANDLE;

    memset(memory, 0xA5, sizeof memory);
    IS(invalid, tripcoil_resource_enter((tripcoil_resource *)memory, &entry));
    IS(invalid, tripcoil_resource_free((tripcoil_resource *)memory));
    IS(invalid, tripcoil_registry_free((tripcoil_registry *)memory));
    IS(invalid, tripcoil_resource_reset((tripcoil_resource *)w->registry)); /* another kind */
    IS(invalid, tripcoil_registry_free((tripcoil_registry *)w->stock));
    IS(invalid, tripcoil_registry_resource((tripcoil_registry *)w->clock, TRIPCOIL_STR("a"), &resource));
    IS(invalid, tripcoil_resource_reset((tripcoil_resource *)((char *)w->stock + 1)));
    IS(invalid, tripcoil_resource_enter(w->stock, (tripcoil_entry *)(void *)((uintptr_t)bytes | 1)));

    IS(TRIPCOIL_INVALID_ENTRY, tripcoil_entry_mark_bad(&entry));
    memset(&entry, 0xA5, sizeof entry);
    IS(TRIPCOIL_INVALID_ENTRY, tripcoil_entry_end(&entry, TRIPCOIL_GOOD));
}

static void lengths_and_text(struct world *w)
{
    static char longest[1025];
    char small[8];
    size_t needed;
    tripcoil_resource *resource;
    tripcoil_report *report;

    memset(longest, 'n', sizeof longest);
    IS(TRIPCOIL_INVALID_NAME, tripcoil_registry_resource(w->registry, "a", HUGE_LENGTH, &resource));
    IS(TRIPCOIL_INVALID_NAME, tripcoil_registry_resource(w->registry, longest, 1025, &resource));
    IS(TRIPCOIL_INVALID_NAME, tripcoil_registry_resource(w->registry, NULL, 0, &resource));
    IS(TRIPCOIL_INVALID_NAME, tripcoil_registry_resource(w->registry, TRIPCOIL_STR(" \t"), &resource));
    IS(TRIPCOIL_INVALID_NAME, tripcoil_registry_resource(w->registry, TRIPCOIL_STR("a\0b"), &resource));
    IS(TRIPCOIL_NOT_UTF8, tripcoil_registry_resource(w->registry, TRIPCOIL_STR("\xff"), &resource));
    OK(tripcoil_registry_resource(w->registry, longest, 1024, &resource));
    OK(tripcoil_resource_free(resource));
    IS(TRIPCOIL_INVALID_NAME, tripcoil_registry_exclude(w->registry, "a", HUGE_LENGTH));
    IS(TRIPCOIL_INVALID_NAME, tripcoil_registry_exclude(w->registry, TRIPCOIL_STR("a\0")));
    IS(TRIPCOIL_INVALID_NAME, tripcoil_registry_include(w->registry, NULL, 0));
    IS(TRIPCOIL_INVALID_NAME, tripcoil_registry_unobserve(w->registry, "a", HUGE_LENGTH));
    IS(TRIPCOIL_INVALID_LENGTH, tripcoil_registry_load(w->registry, "[]", HUGE_LENGTH, &report));
    IS(TRIPCOIL_INVALID_LENGTH, tripcoil_registry_load(w->registry, "[]", (16u << 20) + 1, &report));
    IS(TRIPCOIL_INVALID_RULES, tripcoil_registry_load(w->registry, TRIPCOIL_STR("[\xff]"), &report));
    OK(tripcoil_report_free(report));

    OK(tripcoil_registry_resource(w->registry, TRIPCOIL_STR("caf\xc3\xa9-bar"), &resource));
    OK(tripcoil_resource_name(resource, NULL, 0, &needed));
    CHECK(needed == 9);
    IS(TRIPCOIL_BUFFER_TOO_SMALL, tripcoil_resource_name(resource, small, 5, &needed));
    CHECK(needed == 9 && strcmp(small, "caf") == 0); /* no half character */
    IS(TRIPCOIL_BUFFER_TOO_SMALL, tripcoil_resource_name(resource, small, 1, NULL));
    CHECK(small[0] == 0);
    IS(TRIPCOIL_BUFFER_TOO_SMALL, tripcoil_resource_name(resource, small, 0, NULL));
    OK(tripcoil_resource_free(resource));
}

/* That a load which reads nothing leaves no report, whatever was there. */
#define NO_REPORT(wanted, call)                                                             \
    do {                                                                                    \
        tripcoil_report *report = (tripcoil_report *)(void *)w;                             \
        IS(wanted, call);                                                                   \
        CHECK(report == NULL);                                                              \
    } while (0)

static void no_report(struct world *w)
{
    tripcoil_registry *const registry = w->registry;
    const size_t too_long = (16u << 20) + 1;
    const tripcoil_status null = TRIPCOIL_NULL_POINTER;
    char buffer[8];

    NO_REPORT(null, tripcoil_registry_load(NULL, RULE("a"), &report));
    NO_REPORT(null, tripcoil_registry_load(registry, NULL, 2, &report));
    NO_REPORT(TRIPCOIL_INVALID_HANDLE,
              tripcoil_registry_load((tripcoil_registry *)w->clock, RULE("a"), &report));
    NO_REPORT(TRIPCOIL_INVALID_LENGTH, tripcoil_registry_load(registry, "[]", too_long, &report));
    NO_REPORT(null, tripcoil_registry_load_lenient(NULL, RULE("a"), &report));
    NO_REPORT(TRIPCOIL_INVALID_LENGTH, tripcoil_registry_load_lenient(registry, "[]", too_long, &report));
    NO_REPORT(null, tripcoil_registry_load_resource(NULL, TRIPCOIL_STR("a"), RULE("a"), &report));
    NO_REPORT(null, tripcoil_registry_load_resource(registry, NULL, 1, RULE("a"), &report));
    NO_REPORT(TRIPCOIL_INVALID_NAME,
              tripcoil_registry_load_resource(registry, NULL, 0, RULE("a"), &report));
    NO_REPORT(null, tripcoil_registry_set_own(NULL, TRIPCOIL_STR("a"), RULE("a"), &report));
    NO_REPORT(TRIPCOIL_INVALID_NAME, tripcoil_registry_set_own(registry, NULL, 0, RULE("a"), &report));
    NO_REPORT(null, tripcoil_registry_load_defaults(registry, NULL, 2, &report));
    NO_REPORT(null, tripcoil_registry_load_legacy(registry, TRIPCOIL_LEGACY_1_6, NULL, 2, &report));
    NO_REPORT(TRIPCOIL_INVALID_VALUE, tripcoil_registry_load_legacy(registry, 18, RULE("a"), &report));
    NO_REPORT(null, tripcoil_rules_read(NULL, 1, &report, buffer, sizeof buffer, NULL));
    NO_REPORT(TRIPCOIL_INVALID_LENGTH,
              tripcoil_rules_read("[]", too_long, &report, buffer, sizeof buffer, NULL));
}

static void numbers(struct world *w)
{
    static const int32_t strange[] = {-1, 0, 5, 1000, INT32_MAX, INT32_MIN};
    tripcoil_entry entry;
    tripcoil_breaker *breaker;
    tripcoil_report *report = NULL;
    size_t i;

    OK(tripcoil_resource_enter(w->stock, &entry));
    for (i = 0; i < sizeof strange / sizeof *strange; i++)
        IS(TRIPCOIL_INVALID_VALUE, tripcoil_entry_end(&entry, strange[i]));
    OK(tripcoil_entry_end(&entry, TRIPCOIL_CANCELLED)); /* still open after all that */
    IS(TRIPCOIL_INVALID_VALUE, tripcoil_resource_set_mode(w->stock, 4));
    IS(TRIPCOIL_INVALID_VALUE, tripcoil_resource_set_mode(w->stock, -1));
    IS(TRIPCOIL_INVALID_VALUE, tripcoil_registry_load_legacy(w->registry, 18, RULE("a"), NULL));
    IS(TRIPCOIL_NOT_FOUND, tripcoil_resource_breaker(w->stock, HUGE_LENGTH, &breaker));
    IS(TRIPCOIL_INVALID_RULES, tripcoil_registry_load(w->registry, TRIPCOIL_STR("{"), &report));
    IS(TRIPCOIL_INVALID_VALUE, tripcoil_report_text(report, 0, 5, NULL, 0, &i));
    IS(TRIPCOIL_NOT_FOUND, tripcoil_report_text(report, 1, 0, NULL, 0, &i));
    IS(TRIPCOIL_NOT_FOUND, tripcoil_report_text(report, 0, TRIPCOIL_TEXT_FIELD, NULL, 0, &i));
    OK(tripcoil_report_free(report));
    IS(TRIPCOIL_INVALID_HANDLE, tripcoil_report_free(report));
}

int main(void)
{
    struct world world = world_new();

    nulls(&world);
    freed(&world);
    reused(&world);
    foreign(&world);
    lengths_and_text(&world);
    no_report(&world);
    numbers(&world);
    CHECK(state_of(world.stock) == TRIPCOIL_CLOSED);
    call(world.stock, TRIPCOIL_GOOD);
    world_free(&world);
    puts("misuse: answered");
    return 0;
}
