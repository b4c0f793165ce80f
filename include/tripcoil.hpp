// Tripcoil for C++11 and later: a thin wrapper over tripcoil.h, header only.
//
// Handles are moved, not copied, and free themselves. What a function could not do is an exception of
// type tripcoil::error; a call that was not made is one of type tripcoil::blocked. An entry that goes out
// of scope without an end is cancelled, or bad where an exception is passing.
#ifndef TRIPCOIL_HPP
#define TRIPCOIL_HPP

#include "tripcoil.h"

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tripcoil {

using nanoseconds = std::chrono::nanoseconds;

// How a call ended.
enum class outcome : int32_t {
    good = TRIPCOIL_GOOD,
    bad = TRIPCOIL_BAD,
    ignored = TRIPCOIL_IGNORED,
    cancelled = TRIPCOIL_CANCELLED
};

enum class state : int32_t { closed = TRIPCOIL_CLOSED, open = TRIPCOIL_OPEN, half_open = TRIPCOIL_HALF_OPEN };

enum class mode : int32_t {
    normal = TRIPCOIL_NORMAL,
    forced_open = TRIPCOIL_FORCED_OPEN,
    disabled = TRIPCOIL_DISABLED,
    observe_only = TRIPCOIL_OBSERVE_ONLY
};

enum class release : int32_t { v1_6 = TRIPCOIL_LEGACY_1_6, v1_7 = TRIPCOIL_LEGACY_1_7 };

// A function could not do what it was asked to.
class error : public std::runtime_error {
public:
    explicit error(tripcoil_status status)
        : error(status, tripcoil_status_message(status)) {}
    error(tripcoil_status status, const std::string &what) : std::runtime_error(what), status_(status) {}
    tripcoil_status status() const noexcept { return status_; }

private:
    tripcoil_status status_;
};

// A breaker rejects the call: it was not made.
class blocked : public error {
public:
    blocked(const tripcoil_blocked &why, const std::string &what) : error(TRIPCOIL_BLOCKED, what), why_(why) {}
    tripcoil::state state() const noexcept { return static_cast<tripcoil::state>(why_.state); }
    tripcoil::mode mode() const noexcept { return static_cast<tripcoil::mode>(why_.mode); }
    // Until the next probe may go; `TRIPCOIL_NEVER` without a limit.
    uint64_t retry_after_ns() const noexcept { return why_.retry_after_ns; }

private:
    tripcoil_blocked why_;
};

// One fault or warning of a rule document.
struct finding {
    bool is_fault;
    int64_t rule; // -1: the whole document
    uint64_t line; // 0: not known
    std::string field; // empty: the whole rule or document
    std::string message;
};

// What a load did.
struct report {
    std::size_t rules = 0;
    std::vector<finding> findings;
};

// A rule document has faults; `what()` lists them.
class rules_error : public error {
public:
    rules_error(const tripcoil::report &report, const std::string &what)
        : error(TRIPCOIL_INVALID_RULES, what), report_(std::make_shared<tripcoil::report>(report)) {}
    const tripcoil::report &report() const noexcept { return *report_; }

private:
    std::shared_ptr<tripcoil::report> report_; // copying an exception must not throw
};

namespace detail {

inline void check(tripcoil_status status)
{
    if (status != TRIPCOIL_OK)
        throw error(status);
}

// A text from a function that copies to a buffer: asked for its length, then for itself.
template <class Copy>
std::string text(Copy copy)
{
    std::vector<char> buffer(128);
    std::size_t needed = 0;
    tripcoil_status status;
    // More than once only where the text grows in between.
    while ((status = copy(buffer.data(), buffer.size(), &needed)) == TRIPCOIL_BUFFER_TOO_SMALL)
        buffer.resize(needed + 1);
    check(status);
    return std::string(buffer.data(), needed);
}

template <class T, tripcoil_status (*Free)(T *)>
struct freed {
    void operator()(T *handle) const noexcept { Free(handle); }
};

template <class T, tripcoil_status (*Free)(T *)>
using handle = std::unique_ptr<T, freed<T, Free>>;

using report_handle = handle<tripcoil_report, tripcoil_report_free>;

inline finding read_finding(const tripcoil_report *from, std::size_t index)
{
    tripcoil_finding place;
    check(tripcoil_report_finding(from, index, &place));
    auto part = [&](int32_t which) {
        return text([&](char *buffer, std::size_t capacity, std::size_t *needed) {
            return tripcoil_report_text(from, index, which, buffer, capacity, needed);
        });
    };
    finding found{place.is_fault != 0, place.rule, place.line, std::string(), part(TRIPCOIL_TEXT_MESSAGE)};
    std::size_t needed = 0;
    if (tripcoil_report_text(from, index, TRIPCOIL_TEXT_FIELD, nullptr, 0, &needed) == TRIPCOIL_OK)
        found.field = part(TRIPCOIL_TEXT_FIELD);
    return found;
}

inline report read_report(const tripcoil_report *from)
{
    tripcoil_report_summary summary;
    check(tripcoil_report_summarize(from, &summary));
    report read;
    read.rules = summary.rules;
    for (std::size_t i = 0; i < summary.faults + summary.warnings; i++)
        read.findings.push_back(read_finding(from, i));
    return read;
}

// What a load came to: its report, or an exception that has it.
inline report loaded(tripcoil_status status, tripcoil_report *given)
{
    report_handle owned(given);
    if (status != TRIPCOIL_OK && status != TRIPCOIL_INVALID_RULES)
        throw error(status);
    report read = read_report(given);
    if (status == TRIPCOIL_OK)
        return read;
    std::string what;
    for (const finding &found : read.findings)
        if (found.is_fault)
            what += (what.empty() ? "" : "\n") + found.message;
    throw rules_error(read, what);
}

} // namespace detail

// A clock that stands still until it is told otherwise: for tests.
class virtual_clock {
public:
    virtual_clock()
    {
        tripcoil_clock *made = nullptr;
        detail::check(tripcoil_clock_new(&made));
        handle_.reset(made);
    }
    void set(nanoseconds time) { detail::check(tripcoil_clock_set(get(), static_cast<uint64_t>(time.count()))); }
    void advance(nanoseconds by)
    {
        detail::check(tripcoil_clock_advance(get(), static_cast<uint64_t>(by.count())));
    }
    tripcoil_clock *get() const noexcept { return handle_.get(); }

private:
    detail::handle<tripcoil_clock, tripcoil_clock_free> handle_;
};

// One rule's breaker on one resource.
class breaker {
public:
    explicit breaker(tripcoil_breaker *owned) : handle_(owned) {}
    tripcoil_snapshot snapshot() const
    {
        tripcoil_snapshot taken;
        detail::check(tripcoil_breaker_snapshot(get(), &taken));
        return taken;
    }
    tripcoil::state state() const { return static_cast<tripcoil::state>(snapshot().state); }
    // A sentence about the last trip; error TRIPCOIL_NOT_FOUND where there has been none.
    std::string explain() const
    {
        return detail::text([this](char *buffer, std::size_t capacity, std::size_t *needed) {
            return tripcoil_breaker_explain(get(), buffer, capacity, needed);
        });
    }
    std::string rule() const
    {
        return detail::text([this](char *buffer, std::size_t capacity, std::size_t *needed) {
            return tripcoil_breaker_rule(get(), buffer, capacity, needed);
        });
    }
    void set_mode(tripcoil::mode mode) const
    {
        detail::check(tripcoil_breaker_set_mode(get(), static_cast<int32_t>(mode)));
    }
    void reset() const { detail::check(tripcoil_breaker_reset(get())); }
    tripcoil_breaker *get() const noexcept { return handle_.get(); }

private:
    detail::handle<tripcoil_breaker, tripcoil_breaker_free> handle_;
};

class resource;

// An admitted call. It must not outlive its resource.
class entry {
public:
    // Throws `blocked` where a breaker rejects.
    explicit entry(const resource &of);
    explicit entry(const resource &&of) = delete; // it would outlive its resource
    entry(entry &&other) noexcept : entry_(other.entry_), was_unwinding_(other.was_unwinding_)
    {
        other.entry_ = tripcoil_entry TRIPCOIL_ENTRY_INIT;
    }
    entry &operator=(entry &&other) noexcept
    {
        if (this != &other) {
            abandon();
            entry_ = other.entry_;
            was_unwinding_ = other.was_unwinding_;
            other.entry_ = tripcoil_entry TRIPCOIL_ENTRY_INIT;
        }
        return *this;
    }
    entry(const entry &) = delete;
    entry &operator=(const entry &) = delete;
    ~entry() { abandon(); }

    // Error TRIPCOIL_ALREADY_ENDED at every end but the first.
    void end(outcome how) { detail::check(tripcoil_entry_end(&entry_, static_cast<int32_t>(how))); }
    // With a response time that the caller has measured; below 0 is 0.
    void end(outcome how, nanoseconds response_time)
    {
        const uint64_t ns = response_time.count() < 0 ? 0 : static_cast<uint64_t>(response_time.count());
        detail::check(tripcoil_entry_end_with(&entry_, static_cast<int32_t>(how), ns));
    }
    // A later good end counts as bad.
    void mark_bad() { detail::check(tripcoil_entry_mark_bad(&entry_)); }

private:
    friend class resource;

    // Whether it has been ended already does not matter: nothing may take the place of what is thrown.
    void leave(outcome how) noexcept { (void)tripcoil_entry_end(&entry_, static_cast<int32_t>(how)); }
    static bool unwinding() noexcept
    {
#if defined(__cpp_lib_uncaught_exceptions)
        return std::uncaught_exceptions() > 0;
#else
        return std::uncaught_exception();
#endif
    }
    void abandon() noexcept
    {
        const bool thrown = unwinding() && !was_unwinding_;
        leave(thrown ? outcome::bad : outcome::cancelled);
    }

    tripcoil_entry entry_ = TRIPCOIL_ENTRY_INIT;
    bool was_unwinding_ = unwinding();
};

// A named thing to protect.
class resource {
public:
    explicit resource(tripcoil_resource *owned) : handle_(owned) {}

    // Throws `blocked` where a breaker rejects.
    entry enter() const & { return entry(*this); }
    entry enter() const && = delete; // the entry would outlive its resource

    // Calls `f` if the breakers admit it, and returns what it returns. An exception counts as bad, but
    // `blocked` of an inner call as ignored, and goes on.
    template <class F>
    auto call(F &&f) const -> decltype(f())
    {
        entry guarded(*this);
        try {
            return run(guarded, f, std::is_void<decltype(f())>());
        } catch (const blocked &) {
            guarded.leave(outcome::ignored);
            throw;
        } catch (...) {
            guarded.leave(outcome::bad);
            throw;
        }
    }

    std::size_t breaker_count() const
    {
        std::size_t count = 0;
        detail::check(tripcoil_resource_breaker_count(get(), &count));
        return count;
    }
    tripcoil::breaker breaker(std::size_t position) const
    {
        tripcoil_breaker *made = nullptr;
        detail::check(tripcoil_resource_breaker(get(), position, &made));
        return tripcoil::breaker(made);
    }
    std::string name() const
    {
        return detail::text([this](char *buffer, std::size_t capacity, std::size_t *needed) {
            return tripcoil_resource_name(get(), buffer, capacity, needed);
        });
    }
    void set_mode(mode to) const { detail::check(tripcoil_resource_set_mode(get(), static_cast<int32_t>(to))); }
    void reset() const { detail::check(tripcoil_resource_reset(get())); }
    tripcoil_resource *get() const noexcept { return handle_.get(); }

private:
    template <class F>
    static void run(entry &guarded, F &f, std::true_type)
    {
        f();
        guarded.end(outcome::good);
    }
    template <class F>
    static auto run(entry &guarded, F &f, std::false_type) -> decltype(f())
    {
        auto &&result = f();
        guarded.end(outcome::good);
        return std::forward<decltype(f())>(result);
    }

    detail::handle<tripcoil_resource, tripcoil_resource_free> handle_;
};

// Resources by name, and the rules that guard them.
class registry {
public:
    using observer = std::function<void(const tripcoil_change &)>;

    // `max_resources`: 0 for no limit.
    explicit registry(uint64_t max_resources = 0) : registry(nullptr, max_resources) {}
    explicit registry(const virtual_clock &clock, uint64_t max_resources = 0)
        : registry(clock.get(), max_resources) {}

    // The registry that the process shares.
    static registry global()
    {
        tripcoil_registry *made = nullptr;
        detail::check(tripcoil_registry_global(&made));
        return registry(made);
    }

    tripcoil::resource resource(const std::string &name) const
    {
        tripcoil_resource *made = nullptr;
        detail::check(tripcoil_registry_resource(get(), name.data(), name.size(), &made));
        return tripcoil::resource(made);
    }

    // The loads throw `rules_error`.
    report load(const std::string &json) const { return with_report(tripcoil_registry_load, json); }
    report load_lenient(const std::string &json) const { return with_report(tripcoil_registry_load_lenient, json); }
    report load_defaults(const std::string &json) const { return with_report(tripcoil_registry_load_defaults, json); }
    report load_resource(const std::string &name, const std::string &json) const
    {
        tripcoil_report *given = nullptr;
        const tripcoil_status status = tripcoil_registry_load_resource(
            get(), name.data(), name.size(), json.data(), json.size(), &given);
        return detail::loaded(status, given);
    }
    report set_own(const std::string &name, const std::string &json) const
    {
        tripcoil_report *given = nullptr;
        const tripcoil_status status =
            tripcoil_registry_set_own(get(), name.data(), name.size(), json.data(), json.size(), &given);
        return detail::loaded(status, given);
    }
    report load_legacy(release of, const std::string &json) const
    {
        tripcoil_report *given = nullptr;
        const tripcoil_status status = tripcoil_registry_load_legacy(
            get(), static_cast<int32_t>(of), json.data(), json.size(), &given);
        return detail::loaded(status, given);
    }
    // What rule documents that are loaded from now on may take.
    tripcoil_limits limits() const
    {
        tripcoil_limits now;
        detail::check(tripcoil_registry_limits(get(), &now));
        return now;
    }
    void set_limits(const tripcoil_limits &limits) const { detail::check(tripcoil_registry_set_limits(get(), &limits)); }

    void exclude(const std::string &name) const
    {
        detail::check(tripcoil_registry_exclude(get(), name.data(), name.size()));
    }
    void include(const std::string &name) const
    {
        detail::check(tripcoil_registry_include(get(), name.data(), name.size()));
    }

    // What the observer throws is dropped.
    void observe(const std::string &name, observer told) const
    {
        std::unique_ptr<observer> owned(new observer(std::move(told)));
        detail::check(tripcoil_registry_observe(get(), name.data(), name.size(), tell, owned.get(), drop));
        owned.release();
    }
    // Says whether there was one.
    bool unobserve(const std::string &name) const
    {
        const tripcoil_status status = tripcoil_registry_unobserve(get(), name.data(), name.size());
        if (status != TRIPCOIL_NOT_FOUND)
            detail::check(status);
        return status == TRIPCOIL_OK;
    }
    tripcoil_registry *get() const noexcept { return handle_.get(); }

private:
    explicit registry(tripcoil_registry *owned) : handle_(owned) {}
    registry(const tripcoil_clock *clock, uint64_t max_resources)
    {
        tripcoil_registry *made = nullptr;
        detail::check(tripcoil_registry_new(clock, max_resources, &made));
        handle_.reset(made);
    }

    using load_function = tripcoil_status (*)(const tripcoil_registry *, const char *, std::size_t,
                                              tripcoil_report **);
    report with_report(load_function load, const std::string &json) const
    {
        tripcoil_report *given = nullptr;
        const tripcoil_status status = load(get(), json.data(), json.size(), &given);
        return detail::loaded(status, given);
    }

    static void tell(void *user_data, const tripcoil_change *change) noexcept
    {
        try {
            (*static_cast<observer *>(user_data))(*change);
        } catch (...) { // must not reach the library
        }
    }
    static void drop(void *user_data) noexcept { delete static_cast<observer *>(user_data); }

    detail::handle<tripcoil_registry, tripcoil_registry_free> handle_;
};

inline entry::entry(const resource &of)
{
    const tripcoil_status status = tripcoil_resource_enter(of.get(), &entry_);
    if (status == TRIPCOIL_OK)
        return;
    if (status != TRIPCOIL_BLOCKED)
        throw error(status);
    tripcoil_blocked why;
    detail::check(tripcoil_entry_blocked(&entry_, &why));
    const std::string what = detail::text([this](char *buffer, std::size_t capacity, std::size_t *needed) {
        return tripcoil_entry_explain(&entry_, buffer, capacity, needed);
    });
    throw blocked(why, what);
}

} // namespace tripcoil

#endif
