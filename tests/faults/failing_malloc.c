/* Preloaded, this makes the n-th allocation fail that a thread makes from fail_at(n) on: the program asks for it
 * by `fail_at`, or, where it cannot call it, by getegid() with n in FAIL_AT. With FAIL_IN, only those allocations
 * count that code of a shared object makes whose path contains that text. For glibc. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static __thread long left __attribute__((tls_model("initial-exec")));

static uintptr_t begin, end;

/* Notes where the object is whose path contains FAIL_IN. */
static int find(struct dl_phdr_info *object, size_t size, void *only)
{
    int i;

    (void)size;
    if (strstr(object->dlpi_name, only) == NULL)
        return 0;
    for (i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t start = object->dlpi_addr + part->p_vaddr;

        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
            begin = start;
            end = start + part->p_memsz;
        }
    }
    return 1;
}

void fail_at(long n)
{
    const char *only = getenv("FAIL_IN");

    begin = 0;
    end = only == NULL ? UINTPTR_MAX : 0;
    if (only != NULL)
        dl_iterate_phdr(find, (void *)(uintptr_t)only);
    left = n;
}

/* How many more would have to be made until one fails; 0 once one has. */
long fail_left(void)
{
    return left;
}

gid_t getegid(void)
{
    const char *n = getenv("FAIL_AT");

    fail_at(n == NULL ? 0 : atol(n));
    return getgid();
}

static int fails(void *caller)
{
    const uintptr_t from = (uintptr_t)caller;

    return left > 0 && from >= begin && from < end && --left == 0;
}

#define OR_FAIL(result) (fails(__builtin_return_address(0)) ? (errno = ENOMEM, NULL) : (result))

void *malloc(size_t size)
{
    return OR_FAIL(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return OR_FAIL(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    return OR_FAIL(__libc_realloc(old, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return OR_FAIL(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = OR_FAIL(__libc_memalign(alignment, size));
    return *memory == NULL ? ENOMEM : 0;
}
