/* soc.c - a package's main.c on hd_soc: start-up, and port.h with one input, which is part of the program, and the
 * serial line. An inference's cycles and the bytes of its outputs are written there, a line each. */
#include "port.h"

#define LINE   ((volatile uint32_t *)0x80000000) /* a byte to the serial line */
#define LIGHTS ((volatile uint32_t *)0x80000004) /* written; read: the interrupt line */

enum { RUNNING = 1, RIGHT = 2, WRONG = 4 };

extern uint32_t bss_start[], bss_end[];
extern const uint8_t soc_input[], soc_input_end[]; /* input.S */

static uint32_t taken; /* bytes of the input */
static uint32_t began; /* cycle at which the input had been read */

static uint32_t cycles(void)
{
    uint32_t value;

    __asm__ volatile(".option arch, +zicsr\n\trdcycle %0" : "=r"(value));
    return value;
}

static void put(char c)
{
    *LINE = (uint8_t)c;
}

void port_print(const char *text)
{
    while (*text)
        put(*text++);
}

static void print_number(uint32_t n)
{
    if (n >= 10)
        print_number(n / 10);
    put((char)('0' + n % 10));
}

/* in_0.bin, or any file to write. */
int port_open(const char *name, int write)
{
    return write || name[3] == '0' ? write : -1;
}

void port_close(int file)
{
    (void)file;
}

uint32_t port_read(int file, void *to, uint32_t n)
{
    const uint32_t left = (uint32_t)(soc_input_end - soc_input) - taken;
    uint8_t *at = to;

    (void)file;
    if (n > left)
        n = left;
    for (uint32_t i = 0; i < n; i++)
        at[i] = soc_input[taken + i];
    taken += n;
    began = cycles();
    return n;
}

uint32_t port_write(int file, const void *from, uint32_t n)
{
    const uint32_t took = cycles() - began;
    const uint8_t *at = from;

    (void)file;
    port_print("cycles: ");
    print_number(took);
    port_print("\noutput: ");
    for (uint32_t i = 0; i < n; i++) {
        put("0123456789abcdef"[at[i] >> 4]);
        put("0123456789abcdef"[at[i] & 15]);
    }
    put('\n');
    return n;
}

uint32_t port_stack_bytes(void)
{
    return 0;
}

uint64_t port_nanoseconds(void)
{
    return 0;
}

int port_interrupt(void *ctx)
{
    (void)ctx;
    return (int)(*LIGHTS & 1);
}

void prepare(void);
void prepare(void)
{
    int rc;

    for (uint32_t *to = bss_start; to != bss_end;)
        *to++ = 0;
    *LIGHTS = RUNNING;
    rc = package_main(0);
    port_print(rc ? "failed\n" : "ended\n");
    *LIGHTS = rc ? WRONG : RIGHT;
    for (;;) {
    }
}

__asm__(".section .text.start, \"ax\"\n"
        ".global start\n"
        "start:\n"
        "    la sp, stack_top\n"
        "    j prepare\n"
        ".text\n");
