/* stored.c - see stored.h. */
#include "stored.h"

#include <string.h>

#include "operators/half.h"

static const struct {
    const char *npy;
    uint8_t bytes;
} types[] = {
    [IR_STORED_F16] = {"f2", 2}, [IR_STORED_BF16] = {"V2", 2}, [IR_STORED_F64] = {"f8", 8},
    [IR_STORED_U16] = {"u2", 2}, [IR_STORED_I16] = {"i2", 2},  [IR_STORED_U32] = {"u4", 4},
    [IR_STORED_U64] = {"u8", 8},
};

const char *stored_npy_type(const struct ir_tensor *t)
{
    static const char *const names[IR_TYPE_COUNT] = {
        [IR_I8] = "i1",  [IR_U8] = "u1",  [IR_I16] = "i2", [IR_I32] = "i4",
        [IR_I64] = "i8", [IR_F32] = "f4", [IR_BOOL] = "b1"};

    return t->stored ? types[t->stored].npy : names[t->type];
}

uint64_t stored_bytes(const struct ir_tensor *t)
{
    return t->stored ? ir_elements(t) * types[t->stored].bytes : ir_bytes(t);
}

static void load_one(enum ir_stored type, const uint8_t *from, uint8_t *to)
{
    uint64_t bits = 0;
    uint32_t word;
    double f64;
    float f;

    memcpy(&bits, from, types[type].bytes); /* little-endian */
    switch (type) {
    case IR_STORED_F16: f = half_to_float((uint16_t)bits); break;
    case IR_STORED_BF16: f = bfloat_to_float((uint16_t)bits); break;
    case IR_STORED_F64:
        memcpy(&f64, from, 8);
        f = (float)f64;
        break;
    case IR_STORED_I16:
        word = (uint32_t)(int32_t)(int16_t)bits;
        memcpy(to, &word, 4);
        return;
    case IR_STORED_U16: memcpy(to, &bits, 4); return;
    default: memcpy(to, &bits, 8); return;
    }
    memcpy(to, &f, 4);
}

enum status stored_load(struct arena *a, const struct ir_tensor *t, const uint8_t *from, uint64_t n,
                        uint8_t **to, struct diag *d)
{
    const size_t wide = ir_type_bytes(t->type), size = types[t->stored].bytes;

    *to = arena_alloc(a, (size_t)n * wide);
    for (uint64_t i = 0; i < n; i++) {
        if (t->stored == IR_STORED_U64 && from[i * size + 7] >> 7)
            return FAIL(d, ST_UNSUPPORTED,
                        "'%.80s': element %llu: expected a uint64 of at most 2^63 - 1", t->name,
                        (unsigned long long)i);
        load_one((enum ir_stored)t->stored, from + i * size, *to + i * wide);
    }
    return ST_OK;
}

const uint8_t *stored_save(struct arena *a, const struct ir_tensor *t, const uint8_t *from,
                           uint64_t n)
{
    const size_t wide = ir_type_bytes(t->type), size = types[t->stored].bytes;
    uint8_t *to = arena_alloc(a, (size_t)n * size);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        double f64;
        float f;

        memcpy(&bits, from + i * wide, wide);
        memcpy(&f, from + i * wide, 4);
        f64 = (double)f;
        if (t->stored == IR_STORED_F16)
            bits = half_from_float(f);
        else if (t->stored == IR_STORED_BF16)
            bits = bfloat_from_float(f);
        else if (t->stored == IR_STORED_F64)
            memcpy(&bits, &f64, 8);
        memcpy(to + i * size, &bits, size);
    }
    return to;
}
