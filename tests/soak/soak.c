/* The soak test's program in C: a round of mixed load for every line that it reads. README.md beside it. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../c/check.h"

enum { THREADS = 4, CALLS = 2000, CHANGES = 60, HELD = 8, OBSERVERS = 4 };

#define MS UINT64_C(1000000)
#define LASTING(seconds)                                                                            \
    "{\"resource\":\"kept\",\"id\":\"kept\",\"grade\":1,\"count\":0.5,\"probeNum\":3,"              \
    "\"statSlidingWindowBucketCount\":10,\"timeWindow\":" seconds "},"                              \
    "{\"resource\":\"three\",\"id\":1,\"grade\":0,\"count\":40,\"slowRatioThreshold\":0.6,"         \
    "\"timeWindow\":" seconds "},"                                                                  \
    "{\"resource\":\"three\",\"id\":2,\"grade\":1,\"count\":0.5,\"timeWindow\":" seconds "},"       \
    "{\"resource\":\"three\",\"id\":3,\"grade\":3,\"count\":8,\"timeWindow\":" seconds "}"
#define BRIEF "{\"resource\":\"brief\",\"grade\":2,\"count\":5,\"timeWindow\":1}"
#define LIKE "{\"resource\":\"like-[0-9]+\",\"regex\":true,\"grade\":1,\"count\":0.5,\"timeWindow\":1}"
#define DEFAULT "{\"resource\":\"*\",\"grade\":2,\"count\":3,\"timeWindow\":1}"

static const char *const documents[] = {
    "[" LASTING("1") "]", "[" LASTING("2") "," BRIEF "]", "[" LASTING("1") "," LIKE "]",
    "[" LASTING("2") "," BRIEF "," LIKE "]",
};
static const int32_t outcomes[] = {TRIPCOIL_GOOD, TRIPCOIL_BAD, TRIPCOIL_IGNORED, TRIPCOIL_CANCELLED};

/* What the callers of a resource have counted themselves. */
struct tally {
    atomic_uint_fast64_t admitted, blocked, ended[TRIPCOIL_CANCELLED + 1];
};

static tripcoil_clock *clock_;
static tripcoil_registry *registry;
static tripcoil_resource *kept, *three;
static struct tally of_kept, of_three, of_others;
static tripcoil_entry held[HELD];
static int open_, oldest;
static atomic_uint_fast64_t trips, told, reloads, observed, freed, registries, children;

static uint64_t below(uint64_t *random, uint64_t end)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (*random >> 11) % end;
}

/* The dependency is well or ill in phases of 256 calls. */
static int32_t outcome(uint64_t *random, int step)
{
    const uint64_t n = below(random, 16);

    if (n == 0)
        return outcomes[below(random, 4)];
    return step / 256 % 3 == 0 && n < 12 ? TRIPCOIL_BAD : TRIPCOIL_GOOD;
}

static void call_one(tripcoil_resource *resource, struct tally *tally, uint64_t *random, int step)
{
    int32_t what = outcome(random, step);
    tripcoil_entry entry;
    char text[128];

    if (tripcoil_resource_enter(resource, &entry) == TRIPCOIL_BLOCKED) {
        tally->blocked++;
        if (step % 16 == 0)
            CHECK(tripcoil_entry_explain(&entry, text, sizeof text, NULL) != TRIPCOIL_NOT_FOUND);
        return;
    }
    tally->admitted++;
    if (what == TRIPCOIL_GOOD && below(random, 32) == 0) {
        OK(tripcoil_entry_mark_bad(&entry));
        what = TRIPCOIL_BAD;
        OK(tripcoil_entry_end(&entry, TRIPCOIL_GOOD));
    } else {
        OK(tripcoil_entry_end_with(&entry, what, below(random, 60) * MS));
    }
    IS(TRIPCOIL_ALREADY_ENDED, tripcoil_entry_end(&entry, what));
    tally->ended[what]++;
}

/* Entries that stay open over several rounds: ends the oldest, or begins one more. */
static void hold(uint64_t *random)
{
    const int32_t what = outcomes[below(random, 4)];

    if (open_ == HELD) {
        OK(tripcoil_entry_end(&held[oldest], what));
        of_kept.ended[what]++;
        oldest = (oldest + 1) % HELD;
        open_--;
    } else if (tripcoil_resource_enter(kept, &held[(oldest + open_) % HELD]) == TRIPCOIL_OK) {
        of_kept.admitted++;
        open_++;
    } else {
        of_kept.blocked++;
    }
}

static void *calls(void *seed)
{
    uint64_t random = (uint64_t)(uintptr_t)seed;
    tripcoil_resource *other;
    char name[32];
    int step, length;

    for (step = 0; step < CALLS; step++) {
        call_one(kept, &of_kept, &random, step);
        call_one(three, &of_three, &random, step);
        switch (below(&random, 3)) {
        case 0: length = sprintf(name, "brief"); break;
        case 1: length = sprintf(name, "like-%d", (int)below(&random, 32)); break;
        default: length = sprintf(name, "other-%d", (int)below(&random, 32));
        }
        OK(tripcoil_registry_resource(registry, name, (size_t)length, &other));
        call_one(other, &of_others, &random, step);
        OK(tripcoil_resource_free(other));
        OK(tripcoil_clock_advance(clock_, below(&random, 8) * MS));
    }
    return NULL;
}

static void on_change(void *user_data, const tripcoil_change *change)
{
    told++;
    CHECK(*(char *)user_data == 'u' && change->rule_len > 0);
}

static void on_trip(void *user_data, const tripcoil_change *change)
{
    if (change->trip != NULL)
        ++*(atomic_uint_fast64_t *)user_data;
}

static void on_free(void *user_data)
{
    freed++;
    free(user_data);
}

static void observe(tripcoil_registry *where, uint64_t number)
{
    char name[] = {'o', (char)('0' + number)}, *data = malloc(64);

    CHECK(data != NULL);
    memset(data, 'u', 64);
    OK(tripcoil_registry_observe(where, name, sizeof name, on_change, data, on_free));
    observed++;
}

static void reload(uint64_t *random)
{
    const char *document = documents[below(random, 4)];
    tripcoil_report *report;
    tripcoil_report_summary summary;
    char text[64];

    OK(tripcoil_registry_load(registry, document, strlen(document), NULL));
    IS(TRIPCOIL_INVALID_RULES,
       tripcoil_registry_load(registry, TRIPCOIL_STR("[{\"resource\":\"kept\",\"grade\":9}]"), &report));
    OK(tripcoil_report_summarize(report, &summary));
    CHECK(summary.faults > 0);
    OK(tripcoil_report_text(report, 0, TRIPCOIL_TEXT_FIELD, text, sizeof text, NULL));
    OK(tripcoil_report_free(report));
    document = below(random, 4) == 0 ? "[]" : DEFAULT;
    OK(tripcoil_registry_load_defaults(registry, document, strlen(document), NULL));
    OK(tripcoil_registry_exclude(registry, TRIPCOIL_STR("other-1")));
    OK(tripcoil_registry_include(registry, TRIPCOIL_STR("other-1")));
    reloads++;
}

/* A registry that lives for a few calls, an entry of which outlives it. */
static void another_registry(uint64_t *random)
{
    static struct tally tally;
    tripcoil_registry *brief;
    tripcoil_resource *resource;
    tripcoil_entry entry;
    int i;

    OK(tripcoil_registry_new(NULL, 16, &brief));
    OK(tripcoil_registry_load(brief, documents[0], strlen(documents[0]), NULL));
    observe(brief, 0);
    OK(tripcoil_registry_resource(brief, TRIPCOIL_STR("kept"), &resource));
    for (i = 0; i < 64; i++)
        call_one(resource, &tally, random, i);
    OK(tripcoil_resource_set_mode(resource, TRIPCOIL_NORMAL));
    OK(tripcoil_resource_enter(resource, &entry));
    OK(tripcoil_registry_free(brief));
    OK(tripcoil_entry_end(&entry, TRIPCOIL_BAD));
    OK(tripcoil_resource_free(resource));
    registries++;
}

static void change(uint64_t *random)
{
    char name[] = {'o', (char)('0' + below(random, OBSERVERS))};
    tripcoil_breaker *breaker;
    tripcoil_snapshot snapshot;

    switch (below(random, 7)) {
    case 0: case 1: reload(random); break;
    case 2:
        observe(registry, below(random, OBSERVERS));
        (void)tripcoil_registry_unobserve(registry, name, sizeof name);
        break;
    case 3:
        OK(tripcoil_resource_set_mode(below(random, 2) ? kept : three, (int32_t)below(random, 3)));
        OK(tripcoil_resource_set_mode(kept, TRIPCOIL_NORMAL));
        OK(tripcoil_resource_set_mode(three, TRIPCOIL_NORMAL));
        break;
    case 4: another_registry(random); break;
    case 5:
        OK(tripcoil_resource_breaker(three, 2, &breaker));
        OK(tripcoil_breaker_snapshot(breaker, &snapshot));
        OK(tripcoil_breaker_free(breaker));
        break;
    default: OK(tripcoil_clock_set(clock_, below(random, 1 << 20) * MS));
    }
}

/* Compares what a resource's breakers have counted with what its callers have. At rest. */
static void check(tripcoil_resource *resource, const struct tally *tally, uint64_t open)
{
    tripcoil_breaker *breaker;
    tripcoil_snapshot s;
    uint64_t blocked = 0;
    size_t count, i;

    OK(tripcoil_resource_breaker_count(resource, &count));
    CHECK(count > 0);
    for (i = 0; i < count; i++) {
        OK(tripcoil_resource_breaker(resource, i, &breaker));
        OK(tripcoil_breaker_snapshot(breaker, &s));
        OK(tripcoil_breaker_free(breaker));
        blocked += s.total_blocked;
        CHECK(s.total_passed ==
              s.total_good + s.total_bad + s.total_ignored + s.total_cancelled + s.total_late);
        CHECK(s.total_passed + open >= tally->admitted);
    }
    CHECK(blocked == tally->blocked);
    /* What others gave back because the last one rejected has no outcome with them; nothing is after it. */
    CHECK(s.total_passed + open == tally->admitted);
    CHECK(s.total_ignored == tally->ended[TRIPCOIL_IGNORED]);
    CHECK(s.total_cancelled == tally->ended[TRIPCOIL_CANCELLED]);
    CHECK(s.total_good + s.total_bad + s.total_late ==
          tally->ended[TRIPCOIL_GOOD] + tally->ended[TRIPCOIL_BAD]);
}

static void load(uint64_t round)
{
    const uint64_t seed = (round + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    uint64_t random = seed, i;
    pthread_t threads[THREADS];

    hold(&random);
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, calls, (void *)(uintptr_t)(seed + 2 * i + 2)) == 0);
    for (i = 0; i < CHANGES; i++)
        change(&random);
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    check(kept, &of_kept, (uint64_t)open_);
    check(three, &of_three, 0);
}

/* A child goes on with its copy of everything: to the end, or until it is killed in the middle. */
static void forks(uint64_t round)
{
    const int killed = round % 32 == 7;
    int status, ready[2];
    pid_t child;
    char byte;

    CHECK(pipe(ready) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        load(round);
        CHECK(write(ready[1], "r", 1) == 1);
        if (!killed)
            _exit(0);
        for (;;)
            load(++round);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    CHECK(close(ready[0]) == 0 && close(ready[1]) == 0);
    CHECK(!killed || kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    children++;
}

int main(void)
{
    uint64_t round = 0;
    char line[8];

    OK(tripcoil_clock_new(&clock_));
    OK(tripcoil_registry_new(clock_, 0, &registry));
    OK(tripcoil_registry_load(registry, documents[0], strlen(documents[0]), NULL));
    OK(tripcoil_registry_observe(registry, TRIPCOIL_STR("trips"), on_trip, &trips, NULL));
    OK(tripcoil_registry_resource(registry, TRIPCOIL_STR("kept"), &kept));
    OK(tripcoil_registry_resource(registry, TRIPCOIL_STR("three"), &three));
    for (; fgets(line, sizeof line, stdin) != NULL; round++) {
        load(round);
        if (round % 16 == 7)
            forks(round);
        printf("{\"rounds\":%" PRIu64 ",\"calls\":%" PRIuFAST64 ",\"blocked\":%" PRIuFAST64
               ",\"trips\":%" PRIuFAST64 ",\"told\":%" PRIuFAST64 ",\"reloads\":%" PRIuFAST64
               ",\"observers\":%" PRIuFAST64 ",\"registries\":%" PRIuFAST64 ",\"children\":%" PRIuFAST64 "}\n",
               round + 1,
               of_kept.admitted + of_kept.blocked + of_three.admitted + of_three.blocked + of_others.admitted
                   + of_others.blocked,
               of_kept.blocked + of_three.blocked + of_others.blocked, trips, told, reloads, observed,
               registries, children);
        CHECK(fflush(stdout) == 0);
    }
    for (; open_ > 0; open_--, oldest = (oldest + 1) % HELD)
        OK(tripcoil_entry_end(&held[oldest], TRIPCOIL_GOOD));
    OK(tripcoil_resource_free(kept));
    OK(tripcoil_resource_free(three));
    OK(tripcoil_registry_free(registry));
    OK(tripcoil_clock_free(clock_));
    CHECK(freed == observed);
    return 0;
}
