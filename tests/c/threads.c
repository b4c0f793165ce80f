/* Handles are shared, entries end elsewhere, of several ends one counts, and a child has its own. */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 4, CALLS = 20000, ROUNDS = 2000 };

static struct world w;
static tripcoil_entry shared;
static atomic_int ended, refused;
static pthread_barrier_t meeting;

static void *calls(void *unused)
{
    int i;

    for (i = 0; i < CALLS; i++)
        call(w.stock, TRIPCOIL_GOOD);
    return unused;
}

static void *ends(void *unused)
{
    int round;

    for (round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&meeting); /* the main thread has entered */
        switch (tripcoil_entry_end(&shared, TRIPCOIL_GOOD)) {
        case TRIPCOIL_OK: atomic_fetch_add(&ended, 1); break;
        case TRIPCOIL_ALREADY_ENDED: atomic_fetch_add(&refused, 1); break;
        default: CHECK(0);
        }
        pthread_barrier_wait(&meeting);
    }
    return unused;
}

/* Handles of all kinds come and go while others are in use. */
static void *handles(void *unused)
{
    int i;

    for (i = 0; i < ROUNDS; i++) {
        tripcoil_resource *resource;
        tripcoil_breaker *breaker;

        OK(tripcoil_registry_resource(w.registry, TRIPCOIL_STR("stock"), &resource));
        OK(tripcoil_resource_breaker(resource, 0, &breaker));
        call(resource, TRIPCOIL_GOOD);
        OK(tripcoil_resource_free(resource));
        OK(tripcoil_breaker_free(breaker));
        IS(TRIPCOIL_OK, tripcoil_registry_load(w.registry, RULE("stock"), NULL));
    }
    return unused;
}

static void run(void *(*body)(void *), pthread_t *threads)
{
    int i;

    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, body, NULL) == 0);
}

static void join(pthread_t *threads)
{
    int i;

    for (i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static int32_t state(void)
{
    tripcoil_breaker *breaker;
    int32_t state;

    OK(tripcoil_resource_breaker(w.stock, 0, &breaker));
    OK(tripcoil_breaker_state(breaker, &state));
    OK(tripcoil_breaker_free(breaker));
    return state;
}

/* Forked in the middle of a call, which both end: the child trips its breaker, and no other. */
static void forks(void)
{
    tripcoil_entry entry;
    int status;
    pid_t child;

    OK(tripcoil_resource_reset(w.stock));
    OK(tripcoil_resource_enter(w.stock, &entry));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        OK(tripcoil_entry_end(&entry, TRIPCOIL_BAD));
        IS(TRIPCOIL_ALREADY_ENDED, tripcoil_entry_end(&entry, TRIPCOIL_BAD));
        call(w.stock, TRIPCOIL_BAD);
        OK(tripcoil_registry_load(w.registry, RULE("stock"), NULL));
        CHECK(state() == TRIPCOIL_OPEN);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(tripcoil_entry_end(&entry, TRIPCOIL_BAD));
    CHECK(state() == TRIPCOIL_CLOSED);
}

int main(void)
{
    pthread_t first[THREADS], second[THREADS];
    tripcoil_breaker *breaker;
    tripcoil_snapshot snapshot;
    int round;

    w = world_new();
    CHECK(pthread_barrier_init(&meeting, NULL, THREADS + 1) == 0);
    run(calls, first);
    run(handles, second);
    join(first);
    join(second);
    run(ends, first);
    for (round = 0; round < ROUNDS; round++) {
        OK(tripcoil_resource_enter(w.stock, &shared));
        pthread_barrier_wait(&meeting);
        pthread_barrier_wait(&meeting);
    }
    join(first);
    CHECK(ended == ROUNDS && refused == ROUNDS * (THREADS - 1));
    OK(tripcoil_resource_breaker(w.stock, 0, &breaker));
    OK(tripcoil_breaker_snapshot(breaker, &snapshot));
    CHECK(snapshot.total_good == THREADS * (CALLS + ROUNDS) + ROUNDS);
    OK(tripcoil_breaker_free(breaker));
    forks();
    world_free(&w);
    pthread_barrier_destroy(&meeting);
    puts("threads: nothing lost, nothing twice");
    return 0;
}
