/*
 * Tripcoil: a circuit breaker for C and C++.
 *
 * Generated from bindings/c by `UPDATE=1 cargo test -p tripcoil-c --test header`; not to be edited.
 *
 * THE CONTRACT
 *
 * It holds for every function below, which then says only what is special about it.
 *
 * Names. Functions begin with `tripcoil_` and the noun that they work on, constants with `TRIPCOIL_`.
 * Times end in `_ns`: nanoseconds, 64 bits, unsigned. Lengths are bytes. Enumerations are int32_t with
 * the numbers below, which keep their meaning; any other number is `TRIPCOIL_INVALID_VALUE`.
 *
 * Results. A function returns a `tripcoil_status`, and writes what it was asked for through its last
 * pointers, only if the status is `TRIPCOIL_OK`, unless it says otherwise. `_name` and `_message`
 * functions return static strings instead. errno says nothing after a call. No function exits, and none
 * aborts, unless memory runs out: should the library itself be at fault, the status is `TRIPCOIL_PANIC`,
 * and its objects remain usable.
 *
 * Handles. `tripcoil_registry`, `_resource`, `_breaker`, `_report` and `_clock` are opaque; the caller
 * who is given one owns it and frees it with the function of its kind. Handles do not depend on each
 * other: a resource's may outlive its registry's. Only an entry depends on the handle that it was
 * entered with. Structs that are not opaque are the caller's own memory, and need no freeing.
 *
 * Text. In: a pointer and a length, no NUL needed (`TRIPCOIL_STR("literal")` gives both); UTF-8 is
 * checked; it is copied, and may be gone when the function returns. An empty text may be NULL. Out: it
 * is copied to `buffer` and ended by NUL. `*needed` (`needed` may be NULL) becomes its length without
 * the NUL, so that `*needed + 1` bytes are enough. If `capacity` is less, as many whole characters as
 * fit are copied, and the status is `TRIPCOIL_BUFFER_TOO_SMALL`. With a NULL buffer and a capacity of 0
 * only the length is told.
 *
 * Threads. All functions may be called on any thread, and all handles shared, with one exception:
 * freeing a handle must not run at the same time as another use of it. An entry may be ended, or marked
 * bad, by several threads at once. Entering and ending take no lock (the legacy check does); the first
 * use of a name, loading rules, telling observers, making and freeing handles do, for a short time.
 *
 * NULL. Where a pointer must not be NULL, NULL is `TRIPCOIL_NULL_POINTER`, and nothing was done. Freeing
 * NULL is allowed and does nothing. It says so where NULL means something.
 *
 * Misuse. What is told, and then not done: handles of the wrong kind, freed handles (until 1024 more of
 * the kind have been freed and the memory serves another one), pointers that are not handles or not
 * aligned, entries that were ended, blocked, or zero-initialised and never entered, ends of an entry
 * whose resource handle has been freed, lengths beyond what a function reads (nothing is read then).
 * What cannot be told, and is the caller's fault: pointers to memory that cannot be read or written,
 * lengths that are not those of the buffer, freeing a handle while it is in use, a freed handle whose
 * memory serves another one, entering an entry that is still open (the first call is then never ended),
 * and, undefined, ending two copies of an entry, and using an entry of uninitialised memory.
 *
 * Callbacks. An observer runs on a thread that called the library, with no lock of it held, and may call
 * any function here, also to remove itself. It must return: leaving it by longjmp, by a C++ exception or
 * by ending the thread is the caller's fault, and undefined. The same holds for destructors, which had
 * better not call the library at all.
 *
 * Signals. No function may be called from a signal handler. The library installs none.
 *
 * fork. The library has no threads and no timers. A child has breakers of its own from then on, with
 * the state that they had. Fork while no other thread is in a call of the library, or call exec next:
 * a lock that another thread held stays locked in the child.
 *
 * Versions. Compare `tripcoil_version_number()` with `TRIPCOIL_VERSION_NUMBER`. Functions are added, and
 * the soname's number grows where a program must be compiled anew.
 */
