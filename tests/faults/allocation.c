/* Each allocation of a scenario fails in turn, in a child of its own: that ends by SIGABRT, as every Rust
 * program without memory does, and neither hangs nor crashes. Run with failing_malloc.c preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../c/check.h"

#define THREE                                                                                          \
    "[{\"resource\":\"three\",\"grade\":1,\"count\":0.5,\"timeWindow\":1,\"minRequestAmount\":2},"     \
    "{\"resource\":\"three\",\"grade\":0,\"count\":50,\"timeWindow\":1},"                              \
    "{\"resource\":\"three\",\"grade\":3,\"count\":3,\"timeWindow\":1},"                               \
    "{\"resource\":\"like-[0-9]+\",\"regex\":true,\"grade\":2,\"count\":3,\"timeWindow\":1,\"app\":1}]"

static void (*fail_at)(long);
static long (*fail_left)(void);

static void on_change(void *user_data, const tripcoil_change *change)
{
    (void)user_data;
    CHECK(change->rule_len > 0);
}

/* Everything that asks for memory. What cannot be made or loaded is not there: no other status is right. */
static void play(void)
{
    tripcoil_clock *time;
    tripcoil_registry *registry;
    tripcoil_resource *three, *other;
    tripcoil_breaker *breaker;
    tripcoil_report *report;
    tripcoil_entry entry;
    char text[512];
    size_t needed;
    int i;

    OK(tripcoil_clock_new(&time));
    OK(tripcoil_registry_new(time, 8, &registry));
    OK(tripcoil_registry_observe(registry, TRIPCOIL_STR("o"), on_change, NULL, NULL));
    OK(tripcoil_registry_load(registry, TRIPCOIL_STR(THREE), &report));
    OK(tripcoil_report_text(report, 0, TRIPCOIL_TEXT_MESSAGE, text, sizeof text, &needed));
    OK(tripcoil_report_free(report));
    IS(TRIPCOIL_INVALID_RULES, tripcoil_registry_load(registry, TRIPCOIL_STR("[{\"grade\":9}]"), &report));
    OK(tripcoil_report_free(report));
    OK(tripcoil_registry_load_defaults(registry, RULE("*"), NULL));
    OK(tripcoil_registry_set_own(registry, TRIPCOIL_STR("own"), RULE("own"), NULL));
    OK(tripcoil_registry_resource(registry, TRIPCOIL_STR("three"), &three));
    OK(tripcoil_registry_resource(registry, TRIPCOIL_STR("like-1"), &other));
    for (i = 0; i < 4; i++) {
        if (tripcoil_resource_enter(three, &entry) == TRIPCOIL_OK)
            OK(tripcoil_entry_end(&entry, TRIPCOIL_BAD));
        OK(tripcoil_clock_advance(time, SECOND / 2));
    }
    IS(TRIPCOIL_BLOCKED, tripcoil_resource_enter(three, &entry));
    OK(tripcoil_entry_explain(&entry, text, sizeof text, &needed));
    OK(tripcoil_entry_rule(&entry, text, sizeof text, &needed));
    OK(tripcoil_resource_breaker(three, 0, &breaker));
    OK(tripcoil_breaker_explain(breaker, text, sizeof text, &needed));
    OK(tripcoil_resource_set_mode(other, TRIPCOIL_OBSERVE_ONLY));
    OK(tripcoil_registry_names(registry, text, sizeof text, &needed));
    OK(tripcoil_registry_exclude(registry, TRIPCOIL_STR("name")));
    OK(tripcoil_registry_load(registry, RULE("three"), NULL));
    OK(tripcoil_registry_load_legacy(registry, TRIPCOIL_LEGACY_1_6,
                                     TRIPCOIL_STR("[{\"resource\":\"three\",\"grade\":2,\"count\":4,\"timeWindow\":1}]"), NULL));
    OK(tripcoil_resource_enter(three, &entry));
    OK(tripcoil_entry_end(&entry, TRIPCOIL_GOOD));
    OK(tripcoil_breaker_free(breaker));
    OK(tripcoil_resource_free(three));
    OK(tripcoil_resource_free(other));
    OK(tripcoil_registry_free(registry));
    OK(tripcoil_clock_free(time));
}

/* Whether the n-th failed: by SIGABRT. */
static int failed(long n)
{
    const struct rlimit none = {0, 0};
    int status;
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
        alarm(60); /* a child that hangs ends by another signal */
        fail_at(n);
        if (n > 0)
            CHECK(dup2(open("/dev/null", O_WRONLY), STDERR_FILENO) >= 0);
        play();
        _exit(fail_left() > 0 || n == 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) {
        fprintf(stderr, "allocation %ld has failed: wait status %d instead of SIGABRT\n", n, status);
        exit(1);
    }
    return 1;
}

int main(void)
{
    long n = 1;

    *(void **)&fail_at = dlsym(RTLD_DEFAULT, "fail_at");
    *(void **)&fail_left = dlsym(RTLD_DEFAULT, "fail_left");
    CHECK(fail_at != NULL && fail_left != NULL);
    CHECK(!failed(0));
    while (failed(n))
        n++;
    CHECK(n > 100);
    printf("c: each of %ld allocations has failed, and ended its process by SIGABRT\n", n - 1);
    return 0;
}
