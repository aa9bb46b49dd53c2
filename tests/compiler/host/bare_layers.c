/* bare_layers.c - a network on a bare processor, so that an emulator's log of what it executed can be
 * cut into layers: hd_model.run with mark() before each part and after the last one. Linked with the
 * package's model.c, kernels and start-up code. Parts of an accelerator, which is absent, make no values.
 * Inputs follow from their type and name: "pos..." are positive, "idx..." are 0 to 3. */
#include "bare/bare.h"
#include "hd_model.h"
#include "model.h"

#define APPLICATION_EXIT 0x20026u
#define SYS_EXIT         0x20u

void mark(void *ctx, uint32_t layer, uint32_t submission);

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

#if __has_include("hd.h")
#include "hd.h"

int hd_copy_in(struct hd_device *dev, uint32_t region, uint32_t offset, uint32_t n_bytes)
{
    (void)dev, (void)region, (void)offset, (void)n_bytes;
    return HD_OK;
}

int hd_copy_out(struct hd_device *dev, uint32_t region, uint32_t offset, uint32_t n_bytes)
{
    return hd_copy_in(dev, region, offset, n_bytes);
}

int hd_bind_part(struct hd_device *dev, uint32_t region, uint32_t of, uint32_t offset)
{
    return hd_copy_in(dev, region, of, offset);
}

int hd_run(struct hd_device *dev, uint32_t offset, uint32_t n_bytes)
{
    return hd_copy_in(dev, 0, offset, n_bytes);
}
#endif

void bare_main(void)
{
    uint8_t *in[256], *out[512], *at = io;
    uintptr_t ended[2] = {APPLICATION_EXIT, 0};
    uint32_t seed = 1;
    struct hd_call call = {.arena = arena, .in = in, .out = out, .state = state, .enter = mark};

    for (uint32_t i = 0; i < MODEL_ARENA_BYTES; i++)
        arena[i] = (uint8_t)next(&seed);
    seed = 1;
    for (uint32_t i = 0; i < hd_model.n_inputs;
         i++, at += (hd_model.inputs[i - 1].n_bytes + 63u) / 64u * 64u)
        fill(&hd_model.inputs[i], in[i] = at, &seed);
    for (uint32_t i = 0; i < hd_model.n_outputs;
         i++, at += (hd_model.outputs[i - 1].n_bytes + 63u) / 64u * 64u)
        out[i] = at;
    if (hd_model.reset_state)
        hd_model.reset_state(state);
    ended[1] = hd_model.run(&call) != 0;
    mark(0, 0, 0);
    bare_call(SYS_EXIT, ended);
}
