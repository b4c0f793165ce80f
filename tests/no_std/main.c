/* Drives the breaker of src/lib.rs from its trip to its recovery, and prints what it does. */
#include <stdint.h>
#include <stdio.h>

int32_t breaker_assign(void);
int32_t breaker_call(uint64_t start_ms, uint64_t end_ms, int32_t error);
int32_t breaker_state(void);

static void call(uint64_t start_ms, uint64_t end_ms, int32_t error)
{
    static const char *const states[] = {"closed", "open", "half-open"};
    int32_t passed = breaker_call(start_ms, end_ms, error);

    printf("%4u ms: %s, %s\n", (unsigned)start_ms, passed ? (error ? "failed" : "went well") : "blocked",
           states[breaker_state()]);
}

int main(void)
{
    if (!breaker_assign()) {
        puts("the rule was refused");
        return 1;
    }
    call(0, 10, 0);
    call(100, 110, 0);
    call(200, 210, 1);
    call(300, 310, 1);
    call(400, 410, 0);
    call(2309, 2319, 0);
    call(2310, 2320, 1);
    call(4319, 4329, 0);
    call(4320, 4330, 0);
    call(4340, 4350, 1);
    return 0;
}
