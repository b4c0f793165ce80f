// Whatever of a C++ program throws, wherever the wrapper calls it: the exception arrives, and nothing is lost,
// stuck or torn. A scenario is played once for each of these calls, with that one throwing; its calls are probes
// whose lease never ends, so that a place that got lost would leave the breaker half-open for ever.
#include <tripcoil.hpp>

#include <cstdint>
#include <utility>

#include "../c/check.h"

namespace {

struct blown {};

struct fuse {
    int burned = 0, blows_at = 0;

    void burn()
    {
        if (++burned == blows_at)
            throw blown();
    }
};

// What a guarded function returns.
struct foreign {
    explicit foreign(fuse &fuse) : fuse_(&fuse) { fuse_->burn(); }
    foreign(foreign &&other) : fuse_(other.fuse_) { fuse_->burn(); }
    foreign(const foreign &) = delete;
    fuse *fuse_;
};

struct world {
    fuse fuse_;
    tripcoil::virtual_clock clock;
    tripcoil::registry registry{clock};
    tripcoil::resource stock = (registry.load(
        "[{\"resource\": \"stock\", \"grade\": 2, \"count\": 1, \"timeWindow\": 1, \"minRequestAmount\": 1,"
        " \"probeTimeoutMs\": 0}]"), registry.resource("stock"));
    uint64_t begun = 0;

    tripcoil_snapshot snapshot() const { return stock.breaker(0).snapshot(); }

    void trip()
    {
        stock.reset();
        for (int i = 0; i < 2; i++) {
            tripcoil::entry entry = stock.enter();
            begun++;
            entry.end(tripcoil::outcome::bad);
        }
        CHECK(snapshot().state == TRIPCOIL_OPEN);
        clock.advance(std::chrono::seconds(1));
    }

    void begin()
    {
        begun++;
        fuse_.burn();
    }
};

using step = void (*)(world &);

const step steps[] = {
    [](world &w) { w.stock.call([&] { w.begin(); }); },
    [](world &w) { w.stock.call([&] { w.begin(); return 1; }); },
    [](world &w) { w.stock.call([&]() -> foreign { w.begin(); return foreign(w.fuse_); }); },
    [](world &w) { w.stock.call([&]() -> int & { w.begin(); return w.fuse_.burned; }); },
    [](world &w) {
        tripcoil::entry entry = w.stock.enter();
        w.begin();
        entry.end(tripcoil::outcome::good);
    },
    [](world &w) {
        tripcoil::entry entry = w.stock.enter();
        w.begin();
        tripcoil::entry moved = std::move(entry);
        w.fuse_.burn();
        moved.end(tripcoil::outcome::good, std::chrono::milliseconds(1));
    },
    [](world &w) {
        tripcoil::entry entry = w.stock.enter();
        w.begin();
    },
    [](world &w) {
        w.registry.observe("o", [&w](const tripcoil_change &) { w.fuse_.burn(); });
        w.stock.reset();
        w.registry.unobserve("o");
    },
};

// Which foreign call blows decides how many there are; gives that number.
int play(int blows_at)
{
    world w;
    int arrived = 0;

    w.fuse_.blows_at = blows_at;
    w.registry.observe("told", [&w](const tripcoil_change &) { w.fuse_.burn(); });
    for (step take : steps) {
        // Observers' exceptions stay with the wrapper; of the others each arrives as it was thrown.
        const int before = w.fuse_.blows_at;
        w.fuse_.blows_at = 0;
        const int burned = w.fuse_.burned;
        w.trip();
        w.fuse_.burned = burned;
        w.fuse_.blows_at = before;
        try {
            take(w);
        } catch (const blown &) {
            arrived++;
        }
        CHECK(w.snapshot().state != TRIPCOIL_HALF_OPEN);
    }
    const int all = w.fuse_.burned;
    w.fuse_.blows_at = 0;
    const tripcoil_snapshot s = w.snapshot();
    CHECK(arrived <= 1);
    CHECK(s.total_passed == w.begun);
    CHECK(s.total_passed == s.total_good + s.total_bad + s.total_cancelled && s.total_late == 0);
    w.trip();
    w.stock.call([] {});
    CHECK(w.snapshot().state == TRIPCOIL_CLOSED);
    return all;
}

} // namespace

int main()
{
    const int all = play(0);

    CHECK(all > 15);
    for (int n = 1; n <= all; n++)
        play(n);
    std::printf("c++: each of %d calls of foreign code has thrown, and nothing was lost\n", all);
}
