/* cortex-m.c - start-up for any Cortex-M: vectors, data, the semihosting breakpoint. */
#include "bare.h"

extern uint32_t stack_top[], data_load[], data_start[], data_end[], bss_start[], bss_end[];

intptr_t bare_call(uintptr_t operation, const void *argument)
{
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return (intptr_t)r0;
}

void start(void);
void start(void)
{
    const uint32_t *from = data_load;

    for (uint32_t *to = data_start; to != data_end;)
        *to++ = *from++;
    for (uint32_t *to = bss_start; to != bss_end;)
        *to++ = 0;
#ifdef __ARM_FP
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* CPACR: enable floating point */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
    bare_main();
}

static void fault(void)
{
    const uintptr_t crashed[2] = {0x20023u, 1};

    bare_call(0x20, crashed);
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(uintptr_t)stack_top, start, fault, fault, fault, fault, fault,
};
