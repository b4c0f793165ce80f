/* The C side of benches/compare and .ci/counts: bench RULES CALLS
 *
 * For each line of its input, one of the cases below, it makes so many guarded calls and prints what one
 * took, in ns. */
#define _POSIX_C_SOURCE 199309L
#include <string.h>
#include <time.h>

#include "check.h"

static double now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static tripcoil_resource *resource_of(tripcoil_registry *registry, const char *name)
{
    tripcoil_resource *resource;

    OK(tripcoil_registry_resource(registry, name, strlen(name), &resource));
    return resource;
}

/* What a user writes around a call. */
static int guarded(tripcoil_resource *resource, int32_t outcome)
{
    tripcoil_entry entry;

    if (tripcoil_resource_enter(resource, &entry) != TRIPCOIL_OK)
        return 0;
    tripcoil_entry_end(&entry, outcome);
    return 1;
}

/* NULL: a call into the library that does nothing there. */
static void pass(tripcoil_resource *resource, long calls)
{
    volatile uint32_t version = 0;
    long i;

    for (i = 0; i < calls; i++) {
        if (resource)
            guarded(resource, TRIPCOIL_GOOD);
        else
            version = tripcoil_version_number();
    }
    (void)version;
}

static double measure(tripcoil_resource *resource, long calls)
{
    double began;

    pass(resource, calls / 4); /* warm caches, as at any call but the first */
    began = now_ns();
    pass(resource, calls);
    return (now_ns() - began) / (double)calls;
}

int main(int argc, char **argv)
{
    tripcoil_registry *registry;
    tripcoil_resource *closed, *slow, *open;
    const long calls = argc == 3 ? atol(argv[2]) : 0;
    char line[64];
    int i;

    CHECK(calls > 0);
    OK(tripcoil_registry_new(NULL, 0, &registry));
    OK(tripcoil_registry_load(registry, argv[1], strlen(argv[1]), NULL));
    closed = resource_of(registry, "closed");
    slow = resource_of(registry, "slow");
    open = resource_of(registry, "open");
    for (i = 0; i < 5; i++)
        CHECK(guarded(open, TRIPCOIL_BAD));
    CHECK(!guarded(open, TRIPCOIL_BAD));

    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    while (fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "closed\n") == 0)
            printf("%f\n", measure(closed, calls));
        else if (strcmp(line, "slow\n") == 0)
            printf("%f\n", measure(slow, calls));
        else if (strcmp(line, "open\n") == 0)
            printf("%f\n", measure(open, calls));
        else
            printf("%f\n", measure(NULL, calls));
    }
    OK(tripcoil_resource_free(closed));
    OK(tripcoil_resource_free(slow));
    OK(tripcoil_resource_free(open));
    OK(tripcoil_registry_free(registry));
    return 0;
}
