/* rv32.c - a network on a bare RV32IM core, so that an emulator's log of what it executed can be
 * cut into layers: hd_model.run with mark() before each host operator and after the last one.
 * Linked with the package's model.c and kernels; qemu's virt board, ended by its test device.
 * Inputs follow from their type and name: "pos..." are positive, "idx..." are 0 to 3. */
#include "hd_model.h"
#include "model.h"

#define TEST_DEVICE (*(volatile uint32_t *)0x100000u)
#define PASSED      0x5555u
#define FAILED      0x3333u

extern uint32_t bss_start[], bss_end[];
void prepare(void);
void mark(void *ctx, uint32_t layer, uint32_t submission);
void *memcpy(void *to, const void *from, uintptr_t n);
void *memmove(void *to, const void *from, uintptr_t n);
void *memset(void *to, int value, uintptr_t n);

static uint8_t arena[MODEL_ARENA_BYTES + 64] __attribute__((aligned(64)));
static uint8_t state[MODEL_STATE_BYTES + 64] __attribute__((aligned(64)));
static uint8_t io[MODEL_IO_BYTES + 64] __attribute__((aligned(64)));

/* The log shows when its address was executed. */
__attribute__((noinline)) void mark(void *ctx, uint32_t layer, uint32_t submission)
{
    (void)ctx;
    (void)layer;
    (void)submission;
    __asm__ volatile("" ::: "memory");
}

static int starts(const char *name, const char *with)
{
    while (*with)
        if (*name++ != *with++)
            return 0;
    return 1;
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* One element: quantised values over the whole range, float32 of magnitude 1/16 to 4, numbers from
 * -100 to 99. */
static void fill(const struct hd_io *t, uint8_t *to, uint32_t *seed)
{
    const int positive = starts(t->name, "pos"), index = starts(t->name, "idx");
    const int real = starts(t->type, "f32"), bytes8 = starts(t->type, "i64");
    const int number = bytes8 || starts(t->type, "i32"), truth = starts(t->type, "bool");

    for (uint32_t i = 0; i < t->n_bytes;) {
        uint32_t v = next(seed), high = 0;

        if (real) {
            v = (v & 0x7fffffu) | (123u + next(seed) % 6u) << 23 |
                (positive ? 0 : next(seed) << 31);
        } else if (number) {
            v = index ? v % 4u : v % 200u - 100u;
            high = (int32_t)v < 0 ? ~0u : 0u;
        } else if (truth) {
            v &= 1u;
        }
        for (uint32_t b = 0; b < (real || number ? 4u : 1u); b++)
            to[i++] = (uint8_t)(v >> (8 * b));
        for (uint32_t b = 0; bytes8 && b < 4; b++)
            to[i++] = (uint8_t)(high >> (8 * b));
    }
}

void prepare(void)
{
    uint8_t *in[256], *out[512], *at = io;
    uint32_t seed = 1;
    struct hd_call call = {.arena = arena, .in = in, .out = out, .state = state, .enter = mark};

    for (uint32_t *to = bss_start; to != bss_end;)
        *to++ = 0;
    for (uint32_t i = 0; i < hd_model.n_inputs;
         i++, at += (hd_model.inputs[i - 1].n_bytes + 63u) / 64u * 64u)
        fill(&hd_model.inputs[i], in[i] = at, &seed);
    for (uint32_t i = 0; i < hd_model.n_outputs;
         i++, at += (hd_model.outputs[i - 1].n_bytes + 63u) / 64u * 64u)
        out[i] = at;
    if (hd_model.reset_state)
        hd_model.reset_state(state);
    if (hd_model.run(&call) != 0)
        TEST_DEVICE = FAILED;
    mark(0, 0, 0);
    TEST_DEVICE = PASSED;
    for (;;) {
    }
}

__asm__(".section .text.start, \"ax\"\n"
        ".global start\n"
        "start:\n"
        "    la sp, stack_top\n"
        "    call prepare\n"
        ".text\n");

/* What compilers call by themselves, as the package's semihosting.c has them. */
void *memcpy(void *to, const void *from, uintptr_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    for (uintptr_t i = 0; i < n; i++)
        t[i] = f[i];
    return to;
}

void *memmove(void *to, const void *from, uintptr_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    for (uintptr_t i = 0; t <= f && i < n; i++)
        t[i] = f[i];
    for (uintptr_t i = n; t > f && i-- > 0;)
        t[i] = f[i];
    return to;
}

void *memset(void *to, int value, uintptr_t n)
{
    uint8_t *t = to;

    for (uintptr_t i = 0; i < n; i++)
        t[i] = (uint8_t)value;
    return to;
}
