/* What a guarded call costs from C, in ns: an entry and its end on a closed breaker, and a rejection. */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#include "check.h"

enum { CALLS = 5000000, ROUNDS = 7 };

static double now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void passes(tripcoil_resource *resource)
{
    tripcoil_entry entry;

    if (tripcoil_resource_enter(resource, &entry) == TRIPCOIL_OK)
        tripcoil_entry_end(&entry, TRIPCOIL_GOOD);
}

static void measure(const char *name, tripcoil_resource *resource)
{
    double best = 1e9;
    int round, i;

    for (round = 0; round < ROUNDS; round++) {
        const double began = now_ns();

        for (i = 0; i < CALLS; i++)
            passes(resource);
        if ((now_ns() - began) / CALLS < best)
            best = (now_ns() - began) / CALLS;
    }
    printf("%-24s %6.1f ns\n", name, best);
}

int main(void)
{
    tripcoil_registry *registry;
    tripcoil_resource *errors, *slow;

    OK(tripcoil_registry_new(NULL, 0, &registry));
    OK(tripcoil_registry_load(registry,
        TRIPCOIL_STR("[{\"resource\":\"errors\",\"grade\":1,\"count\":0.5,\"timeWindow\":10,"
                     "\"statIntervalMs\":10000,\"statSlidingWindowBucketCount\":10},"
                     "{\"resource\":\"slow\",\"count\":1000,\"slowRatioThreshold\":0.5,\"timeWindow\":10}]"), NULL));
    OK(tripcoil_registry_resource(registry, TRIPCOIL_STR("errors"), &errors));
    OK(tripcoil_registry_resource(registry, TRIPCOIL_STR("slow"), &slow));
    measure("closed, error rule, 10", errors);
    measure("closed, slow rule", slow);
    OK(tripcoil_resource_set_mode(errors, TRIPCOIL_FORCED_OPEN));
    measure("forced open", errors);
    OK(tripcoil_resource_free(errors));
    OK(tripcoil_resource_free(slow));
    OK(tripcoil_registry_free(registry));
    return 0;
}
