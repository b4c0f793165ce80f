/*
 * Plays conformance cases: told what to do on standard input, tells what it saw on standard output.
 *
 * A request is a line of words, and then its texts; a text is its length in bytes, a newline, its bytes,
 * a newline. An answer is lines of words, with texts of the same form, and ends with the line `done`.
 *
 *   new                                  a fresh registry, the clock at 0
 *   load AT SCOPE WATCHED + [resource] rules + watched names      SCOPE: 0 ordinary, 1 defaults,
 *                                        2 resource, 16 and 17 legacy
 *   enter AT ENTRY WATCHED + resource + watched names             ENTRY: a number, used once
 *   end AT ENTRY OUTCOME WATCHED + watched names
 *   mode AT RULE MODE WATCHED + resource + watched names          RULE: its breaker's position
 *   reset AT RULE WATCHED + resource + watched names
 *   exclude AT WHETHER WATCHED + resource + watched names         WHETHER: 0 includes it again
 *   read + document
 *
 * Answers: `status N`, for each watched name `states N…`, for each change
 * `event RULE FROM TO SNAPSHOT FROM_MODE TO_MODE` (or `-` for the snapshot) + resource; for a document `rules` + JSON, and for each fault
 * `fault RULE HAS_FIELD` + field.
 */
#include <inttypes.h>
#include <string.h>

#include "check.h"

struct text {
    char *bytes;
    size_t length;
};

struct call {
    tripcoil_entry entry;
    tripcoil_resource *resource;
};

static tripcoil_clock *the_clock;
static tripcoil_registry *registry;
static struct call *calls; /* moved as it grows: entries may be */
static size_t call_count;
static char *events; /* the lines of this step's events */
static size_t events_length;

static void *grown(void *memory, size_t size)
{
    void *bigger = realloc(memory, size == 0 ? 1 : size);

    CHECK(bigger != NULL);
    return bigger;
}

static struct text read_text(void)
{
    struct text text;

    CHECK(scanf("%zu", &text.length) == 1 && getchar() == '\n');
    text.bytes = grown(NULL, text.length);
    CHECK(fread(text.bytes, 1, text.length, stdin) == text.length && getchar() == '\n');
    return text;
}

static void write_text(const char *bytes, size_t length)
{
    printf("%zu\n", length);
    fwrite(bytes, 1, length, stdout);
    putchar('\n');
}

static void tell(void *user_data, const tripcoil_change *change)
{
    char line[128];
    int length, with_length;

    (void)user_data;
    length = sprintf(line, "event %zu %d %d ", change->position, (int)change->from, (int)change->to);
    length += change->has_snapshot ? sprintf(line + length, "%.17g", change->snapshot)
                                   : sprintf(line + length, "-");
    length += sprintf(line + length, " %d %d\n", (int)change->from_mode, (int)change->to_mode);
    with_length = length + sprintf(line + length, "%zu\n", change->resource_len);
    events = grown(events, events_length + (size_t)with_length + change->resource_len + 1);
    memcpy(events + events_length, line, (size_t)with_length);
    events_length += (size_t)with_length;
    memcpy(events + events_length, change->resource, change->resource_len);
    events_length += change->resource_len;
    events[events_length++] = '\n';
}

static void forget_all(void)
{
    size_t i;

    for (i = 0; i < call_count; i++)
        if (calls[i].resource != NULL) {
            /* Those that allocated must end; a second end is answered, and harmless. */
            tripcoil_entry_end(&calls[i].entry, TRIPCOIL_CANCELLED);
            OK(tripcoil_resource_free(calls[i].resource));
        }
    call_count = 0;
    events_length = 0;
    OK(tripcoil_registry_free(registry));
    OK(tripcoil_clock_free(the_clock));
    registry = NULL;
    the_clock = NULL;
}

static void begin(void)
{
    forget_all();
    OK(tripcoil_clock_new(&the_clock));
    OK(tripcoil_registry_new(the_clock, 0, &registry));
    OK(tripcoil_registry_observe(registry, TRIPCOIL_STR("driver"), tell, NULL, NULL));
}

static tripcoil_status load(int scope)
{
    struct text name = {NULL, 0}, rules;
    tripcoil_report *report = NULL;
    tripcoil_status status = TRIPCOIL_INVALID_VALUE;

    if (scope == 2)
        name = read_text();
    rules = read_text();
    switch (scope) {
    case 0: status = tripcoil_registry_load(registry, rules.bytes, rules.length, &report); break;
    case 1: status = tripcoil_registry_load_defaults(registry, rules.bytes, rules.length, &report); break;
    case 2:
        status = tripcoil_registry_load_resource(registry, name.bytes, name.length, rules.bytes, rules.length, &report);
        break;
    default: status = tripcoil_registry_load_legacy(registry, scope, rules.bytes, rules.length, &report);
    }
    CHECK(report != NULL);
    OK(tripcoil_report_free(report));
    free(rules.bytes);
    free(name.bytes);
    return status;
}

static tripcoil_status enter(size_t number)
{
    struct text name = read_text();

    if (number >= call_count) {
        calls = grown(calls, (number + 1) * sizeof *calls);
        memset(calls + call_count, 0, (number + 1 - call_count) * sizeof *calls);
        call_count = number + 1;
    }
    CHECK(calls[number].resource == NULL);
    OK(tripcoil_registry_resource(registry, name.bytes, name.length, &calls[number].resource));
    free(name.bytes);
    return tripcoil_resource_enter(calls[number].resource, &calls[number].entry);
}

/* Sets the mode of a breaker, or resets it where there is none to set. */
static tripcoil_status control(size_t rule, const int *mode)
{
    struct text name = read_text();
    tripcoil_resource *resource;
    tripcoil_breaker *breaker;
    tripcoil_status status;

    OK(tripcoil_registry_resource(registry, name.bytes, name.length, &resource));
    status = tripcoil_resource_breaker(resource, rule, &breaker);
    if (status == TRIPCOIL_OK) {
        status = mode != NULL ? tripcoil_breaker_set_mode(breaker, *mode) : tripcoil_breaker_reset(breaker);
        OK(tripcoil_breaker_free(breaker));
    }
    OK(tripcoil_resource_free(resource));
    free(name.bytes);
    return status;
}

static tripcoil_status exclude(int whether)
{
    struct text name = read_text();
    tripcoil_status status = whether ? tripcoil_registry_exclude(registry, name.bytes, name.length)
                                     : tripcoil_registry_include(registry, name.bytes, name.length);

    free(name.bytes);
    return status;
}

static void watch(size_t names)
{
    for (; names > 0; names--) {
        struct text name = read_text();
        tripcoil_resource *resource;
        size_t count, i;

        OK(tripcoil_registry_resource(registry, name.bytes, name.length, &resource));
        OK(tripcoil_resource_breaker_count(resource, &count));
        fputs("states", stdout);
        for (i = 0; i < count; i++) {
            tripcoil_breaker *breaker;
            int32_t state;

            OK(tripcoil_resource_breaker(resource, i, &breaker));
            OK(tripcoil_breaker_state(breaker, &state));
            OK(tripcoil_breaker_free(breaker));
            printf(" %d", (int)state);
        }
        putchar('\n');
        OK(tripcoil_resource_free(resource));
        free(name.bytes);
    }
}

static void read_document(void)
{
    struct text document = read_text();
    tripcoil_report *report;
    tripcoil_report_summary summary;
    size_t needed, i;
    char *rules;

    tripcoil_rules_read(document.bytes, document.length, NULL, NULL, 0, &needed);
    rules = grown(NULL, needed + 1);
    tripcoil_rules_read(document.bytes, document.length, &report, rules, needed + 1, &needed);
    puts("rules");
    write_text(rules, needed);
    OK(tripcoil_report_summarize(report, &summary));
    for (i = 0; i < summary.faults; i++) {
        tripcoil_finding finding;
        char field[1024] = "";
        tripcoil_status status;

        OK(tripcoil_report_finding(report, i, &finding));
        status = tripcoil_report_text(report, i, TRIPCOIL_TEXT_FIELD, field, sizeof field, NULL);
        printf("fault %" PRId64 " %d\n", finding.rule, status == TRIPCOIL_OK);
        write_text(field, strlen(field));
    }
    OK(tripcoil_report_free(report));
    free(rules);
    free(document.bytes);
}

/* One step of a case: the clock, the operation, what has become of it. */
static void step(const char *verb)
{
    uint64_t at;
    size_t number = 0, watched;
    int what = 0;
    tripcoil_status status;

    CHECK(scanf("%" SCNu64, &at) == 1);
    OK(tripcoil_clock_set(the_clock, at));
    if (strcmp(verb, "load") == 0) {
        CHECK(scanf("%d %zu", &what, &watched) == 2);
        status = load(what);
    } else if (strcmp(verb, "enter") == 0) {
        CHECK(scanf("%zu %zu", &number, &watched) == 2);
        status = enter(number);
    } else if (strcmp(verb, "mode") == 0) {
        CHECK(scanf("%zu %d %zu", &number, &what, &watched) == 3);
        status = control(number, &what);
    } else if (strcmp(verb, "reset") == 0) {
        CHECK(scanf("%zu %zu", &number, &watched) == 2);
        status = control(number, NULL);
    } else if (strcmp(verb, "exclude") == 0) {
        CHECK(scanf("%d %zu", &what, &watched) == 2);
        status = exclude(what);
    } else {
        CHECK(strcmp(verb, "end") == 0 && scanf("%zu %d %zu", &number, &what, &watched) == 3);
        CHECK(number < call_count);
        status = tripcoil_entry_end(&calls[number].entry, what);
    }
    printf("status %d\n", (int)status);
    watch(watched);
    if (events_length > 0)
        fwrite(events, 1, events_length, stdout);
    events_length = 0;
}

int main(void)
{
    char verb[16];

    while (scanf("%15s", verb) == 1) {
        if (strcmp(verb, "new") == 0)
            begin();
        else if (strcmp(verb, "read") == 0)
            read_document();
        else
            step(verb);
        puts("done");
        fflush(stdout);
    }
    forget_all();
    free(events);
    free(calls);
    return 0;
}
