// The end of a process in the middle of anything: ending exit|stop|kill, which `run` asks for many times.
//
// exit: four threads are within calls, loads and announcements when main returns; handlers of atexit, destructors of
//       statics and of a thread's own objects use the library then. The process ends with status 0.
// stop: a process that is stopped with a probe out, and goes on after the probe's lease, finds it late, and not lost.
// kill: a child is killed in the middle of its calls and loads; the parent, whose memory is its own, goes on.
#include <tripcoil.hpp>

#include <atomic>
#include <csignal>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "../c/check.h"

namespace {

const char *const rules = "[{\"resource\": \"stock\", \"grade\": 2, \"count\": 1, \"timeWindow\": 1,"
                          " \"minRequestAmount\": 1}]";

void use(const tripcoil::registry &registry)
{
    tripcoil::resource stock = registry.resource("stock");
    registry.load(rules);
    for (int i = 0; i < 3; i++) {
        try {
            stock.call([&] { stock.call([] { throw 1; }); });
        } catch (int) {
        } catch (const tripcoil::blocked &) {
        }
    }
    stock.reset();
}

std::atomic<unsigned> told{0};

// Made before main, and destroyed after it: its registry is in use until the last moment.
struct last {
    tripcoil::registry registry;

    last()
    {
        registry.load(rules);
        registry.observe("o", [](const tripcoil_change &) { told++; });
    }
    ~last() { use(registry); }
};

// Destroyed when its thread ends, perhaps after what the library keeps of the thread.
struct farewell {
    const tripcoil::registry *registry = nullptr;

    ~farewell()
    {
        if (registry != nullptr)
            use(*registry);
    }
};

last global;
thread_local farewell own;

void at_exit()
{
    use(global.registry);
    global.registry.resource("new").call([] {});
}

// Registries whose owners are threads that nobody waits for: they are never freed.
int exiting()
{
    CHECK(std::atexit(at_exit) == 0);
    std::atomic<int> *begun = new std::atomic<int>(0);
    tripcoil::registry *shared = new tripcoil::registry(tripcoil::registry::global());
    for (int i = 0; i < 4; i++)
        std::thread([=] {
            for (begun->fetch_add(1);; use(*shared))
                continue;
        }).detach();
    std::thread([] { own.registry = &global.registry; }).join();
    while (begun->load() < 4 || told == 0)
        use(global.registry);
    return 0;
}

void wait_for(pid_t child, int *status)
{
    CHECK(waitpid(child, status, WUNTRACED) == child);
}

int stopping()
{
    int status;
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        alarm(60);
        tripcoil::registry registry;
        registry.load("[{\"resource\": \"stock\", \"strategy\": 2, \"threshold\": 1, \"retryTimeoutMs\": 1,"
                      " \"minRequestAmount\": 1, \"probeTimeoutMs\": 1}]");
        tripcoil::resource stock = registry.resource("stock");
        stock.enter().end(tripcoil::outcome::bad);
        // On the system's clock.
        while (stock.breaker(0).snapshot().retry_after_ns > 0)
            continue;
        tripcoil::entry probe = stock.enter();
        CHECK(raise(SIGSTOP) == 0);
        while (stock.breaker(0).snapshot().retry_after_ns > 0)
            continue;
        // The lease is over: the next call is a probe, and decides; the one that was out is late.
        stock.call([] {});
        CHECK(stock.breaker(0).snapshot().state == TRIPCOIL_CLOSED);
        probe.end(tripcoil::outcome::bad);
        const tripcoil_snapshot s = stock.breaker(0).snapshot();
        CHECK(s.state == TRIPCOIL_CLOSED && s.total_late == 1 && s.total_passed == 3);
        _exit(0);
    }
    wait_for(child, &status);
    CHECK(WIFSTOPPED(status));
    CHECK(kill(child, SIGCONT) == 0);
    wait_for(child, &status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}

int killing()
{
    int status, ready[2];
    char byte;

    use(global.registry);
    const tripcoil::resource stock = global.registry.resource("stock");
    const uint64_t before = stock.breaker(0).snapshot().total_passed;
    CHECK(pipe(ready) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (int i = 0;; i++) {
            use(global.registry);
            if (i < 100)
                CHECK(write(ready[1], "r", 1) == 1);
        }
    }
    for (int i = 0; i < 100; i++)
        CHECK(read(ready[0], &byte, 1) == 1);
    CHECK(kill(child, SIGKILL) == 0);
    wait_for(child, &status);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(stock.breaker(0).snapshot().total_passed == before);
    use(global.registry);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string what = argc == 2 ? argv[1] : "";

    if (what == "stop")
        return stopping();
    if (what == "kill")
        return killing();
    CHECK(what == "exit");
    return exiting();
}
