// The C++ wrapper: exceptions to outcomes and back, handles that move.
#include <tripcoil.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <type_traits>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                           \
        }                                                                           \
    } while (0)

namespace {

const char *const rule = "[{\"resource\": \"stock\", \"grade\": 1, \"count\": 0.5, \"timeWindow\": 10,"
                         " \"minRequestAmount\": 4, \"statIntervalMs\": 10000}]";

struct fixture {
    tripcoil::virtual_clock clock;
    tripcoil::registry registry{clock};
    tripcoil::resource stock = (registry.load(rule), registry.resource("stock"));

    tripcoil_snapshot snapshot() const { return stock.breaker(0).snapshot(); }
};

template <class E, class F>
bool throws(F f)
{
    try {
        f();
    } catch (const E &) {
        return true;
    }
    return false;
}

void call_maps_exceptions_to_outcomes()
{
    fixture f;
    int lives = 9;
    CHECK(f.stock.call([] { return 7; }) == 7);
    f.stock.call([] {});
    CHECK(&f.stock.call([&]() -> int & { return lives; }) == &lives);
    CHECK(*f.stock.call([] { return std::unique_ptr<int>(new int(5)); }) == 5);
    CHECK(throws<std::logic_error>([&] { f.stock.call([]() -> int { throw std::logic_error("no"); }); }));
    CHECK(f.snapshot().good == 4 && f.snapshot().bad == 1);

    tripcoil::resource inner = f.registry.resource("inner");
    f.registry.set_own("inner", "{\"resource\": \"inner\", \"count\": 70, \"timeWindow\": 1}");
    f.registry.load_resource("inner", "{\"resource\": \"inner\", \"count\": 50, \"timeWindow\": 1}");
    inner.set_mode(tripcoil::mode::forced_open);
    CHECK(throws<tripcoil::blocked>([&] { f.stock.call([&] { inner.call([] {}); }); }));
    CHECK(f.snapshot().total_ignored == 1 && f.snapshot().bad == 1);
}

void blocked_tells_why()
{
    fixture f;
    for (int i = 0; i < 4; i++)
        f.stock.enter().end(tripcoil::outcome::bad);
    bool made = false;
    try {
        f.stock.call([&] { made = true; });
        CHECK(false);
    } catch (const tripcoil::blocked &why) {
        CHECK(why.state() == tripcoil::state::open && why.mode() == tripcoil::mode::normal);
        CHECK(why.retry_after_ns() == 10000000000u && why.status() == TRIPCOIL_BLOCKED);
        CHECK(std::string(why.what()).find("stock") != std::string::npos);
    }
    CHECK(!made);
    CHECK(f.stock.breaker(0).explain().find("4 of 4 calls") != std::string::npos);
    f.clock.advance(std::chrono::seconds(10));
    f.stock.call([] {});
    CHECK(f.stock.breaker(0).state() == tripcoil::state::closed);
}

// An entry of a temporary resource would have nothing to end on.
static_assert(std::is_constructible<tripcoil::entry, const tripcoil::resource &>::value, "of a resource that stays");
static_assert(!std::is_constructible<tripcoil::entry, tripcoil::resource>::value, "not of a temporary one");

void entries_end_with_their_scope()
{
    fixture f;
    {
        tripcoil::entry given_up = f.stock.enter();
        tripcoil::entry moved = std::move(given_up);
    }
    CHECK(f.snapshot().total_cancelled == 1);
    CHECK(throws<int>([&] {
        tripcoil::entry entry = f.stock.enter();
        throw 1;
    }));
    CHECK(f.snapshot().bad == 1);
    tripcoil::entry entry = f.stock.enter();
    entry.mark_bad();
    entry.end(tripcoil::outcome::good, std::chrono::milliseconds(3));
    CHECK(throws<tripcoil::error>([&] { entry.end(tripcoil::outcome::good); }));
    CHECK(f.snapshot().bad == 2 && f.snapshot().good == 0);
}

void observers_are_functions()
{
    fixture f;
    auto changes = std::make_shared<int>(0);
    f.registry.observe("test", [changes](const tripcoil_change &change) {
        *changes += change.to_mode == TRIPCOIL_DISABLED;
        throw std::runtime_error("stays here");
    });
    f.stock.set_mode(tripcoil::mode::disabled);
    CHECK(*changes == 1 && changes.use_count() == 2);
    CHECK(f.registry.unobserve("test") && !f.registry.unobserve("test"));
    CHECK(changes.use_count() == 1);

    f.registry.observe("once", [&f, changes](const tripcoil_change &) {
        ++*changes;
        f.registry.unobserve("once");
        f.registry.load("[]"); // what a callback calls must not wait for what it is told of
    });
    f.stock.set_mode(tripcoil::mode::normal);
    f.stock.set_mode(tripcoil::mode::disabled);
    CHECK(*changes == 2 && changes.use_count() == 1);
}

void faults_are_exceptions()
{
    fixture f;
    try {
        f.registry.load("[{\"resource\": \"stock\", \"grade\": 1, \"count\": 2, \"timeWindow\": 0}]");
        CHECK(false);
    } catch (const tripcoil::rules_error &error) {
        CHECK(error.report().findings.size() == 2 && error.report().findings[0].field == "count");
        CHECK(std::string(error.what()).find("timeWindow") != std::string::npos);
    }
    CHECK(throws<tripcoil::error>([&] { f.registry.resource(" "); }));
    CHECK(f.registry.load_lenient("[7]").rules == 0);
    tripcoil_limits limits = f.registry.limits();
    limits.document_bytes = 1;
    f.registry.set_limits(limits);
    CHECK(throws<tripcoil::error>([&] { f.registry.load("[]"); }));
}

} // namespace

int main()
{
    call_maps_exceptions_to_outcomes();
    blocked_tells_why();
    entries_end_with_their_scope();
    observers_are_functions();
    faults_are_exceptions();
    tripcoil::registry::global();
    std::puts("wrapper: exceptions and outcomes agree");
    return 0;
}
