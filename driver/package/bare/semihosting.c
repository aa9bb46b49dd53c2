/* semihosting.c - run main.c on bare metal under a debugger or an emulator: files, text and exit by
 * semihosting (ARM's interface, also used for RISC-V). The stack is painted before main and
 * inspected afterwards. */
#include "../port.h"
#include "bare.h"

enum { SYS_OPEN = 1, SYS_CLOSE = 2, SYS_WRITE0 = 4, SYS_WRITE = 5, SYS_READ = 6, SYS_EXIT = 0x20 };

#define STACK_PAINT 0x5aa55aa5u
#define PAINT_GAP   64u /* words below the painting function's frame that are not painted */

extern uint32_t stack_bottom[], stack_top[]; /* linker script */

static uintptr_t words(const char *text)
{
    uintptr_t n = 0;

    while (text[n])
        n++;
    return n;
}

int port_open(const char *name, int write)
{
    const uintptr_t argument[3] = {(uintptr_t)name, write ? 5 : 1 /* "wb", "rb" */, words(name)};

    return (int)bare_call(SYS_OPEN, argument);
}

void port_close(int f)
{
    const uintptr_t argument[1] = {(uintptr_t)f};

    bare_call(SYS_CLOSE, argument);
}

/* Both return the number of bytes not moved. */
uint32_t port_read(int f, void *to, uint32_t n)
{
    const uintptr_t argument[3] = {(uintptr_t)f, (uintptr_t)to, n};

    return n - (uint32_t)bare_call(SYS_READ, argument);
}

uint32_t port_write(int f, const void *from, uint32_t n)
{
    const uintptr_t argument[3] = {(uintptr_t)f, (uintptr_t)from, n};

    return n - (uint32_t)bare_call(SYS_WRITE, argument);
}

void port_print(const char *text)
{
    bare_call(SYS_WRITE0, text);
}

uint64_t port_nanoseconds(void)
{
    return 0;
}

uint32_t port_stack_bytes(void)
{
    const volatile uint32_t *at = stack_bottom;

    while (at != stack_top && *at == STACK_PAINT)
        at++;
    return (uint32_t)((uintptr_t)stack_top - (uintptr_t)at);
}

/* Called by the start-up code at the top of the stack. */
void bare_main(void)
{
    volatile uint32_t *here = (volatile uint32_t *)__builtin_frame_address(0) - PAINT_GAP;
    uintptr_t argument[2] = {0x20026u /* the application ended */, 0};

    for (volatile uint32_t *at = stack_bottom; at < here; at++)
        *at = STACK_PAINT;
    argument[1] = (uintptr_t)package_main(0);
    bare_call(SYS_EXIT, argument);
    for (;;) {
    }
}
