/* For the programs here: a check that says where it failed. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <tripcoil.h>

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);         \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

/* That a call has a status; the message has the one that it had. */
#define IS(wanted, call)                                                                    \
    do {                                                                                    \
        const tripcoil_status got_ = (call);                                                \
        if (got_ != (wanted)) {                                                             \
            fprintf(stderr, "%s:%d: %s: wanted %s, got %s (%d)\n", __FILE__, __LINE__,      \
                    #call, tripcoil_status_name(wanted), tripcoil_status_name(got_),        \
                    (int)got_);                                                             \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

#define OK(call) IS(TRIPCOIL_OK, call)

#define SECOND UINT64_C(1000000000)

/* One error of two calls opens it, for ten seconds. */
#define RULE(name)                                                                          \
    TRIPCOIL_STR("[{\"resource\":\"" name "\",\"grade\":1,\"count\":0.4,"                   \
                 "\"minRequestAmount\":2,\"statIntervalMs\":10000,\"timeWindow\":10}]")

struct world {
    tripcoil_clock *clock;
    tripcoil_registry *registry;
    tripcoil_resource *stock;
};

static inline struct world world_new(void)
{
    struct world world = {NULL, NULL, NULL};

    OK(tripcoil_clock_new(&world.clock));
    OK(tripcoil_registry_new(world.clock, 0, &world.registry));
    OK(tripcoil_registry_load(world.registry, RULE("stock"), NULL));
    OK(tripcoil_registry_resource(world.registry, TRIPCOIL_STR("stock"), &world.stock));
    return world;
}

static inline void world_free(struct world *world)
{
    OK(tripcoil_resource_free(world->stock));
    OK(tripcoil_registry_free(world->registry));
    OK(tripcoil_clock_free(world->clock));
}

static inline void call(tripcoil_resource *resource, int32_t outcome)
{
    tripcoil_entry entry;

    OK(tripcoil_resource_enter(resource, &entry));
    OK(tripcoil_entry_end(&entry, outcome));
}

static inline int32_t state_of(const tripcoil_resource *resource)
{
    tripcoil_breaker *breaker;
    int32_t state;

    OK(tripcoil_resource_breaker(resource, 0, &breaker));
    OK(tripcoil_breaker_state(breaker, &state));
    OK(tripcoil_breaker_free(breaker));
    return state;
}

#endif
