/* tfl_tensor.c - one tensor of a TFLite file: type, shape, quantisation and data checked. */
#include "operators/half.h"
#include "tfl_import.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Stored types of constants that become wider ones: TensorType of tflite.fbs. */
enum { FLOAT16 = 1, INT4 = 17 };

/* Convert TensorType of tflite.fbs to ir_type; IR_TYPE_COUNT if the IR lacks it. */
static enum ir_type type_of(int32_t type)
{
    switch (type) {
    case FLOAT16:
    case 0: return IR_F32;
    case 2: return IR_I32;
    case 3: return IR_U8;
    case 4: return IR_I64;
    case 6: return IR_BOOL;
    case 7: return IR_I16;
    case INT4:
    case 9: return IR_I8;
    default: return IR_TYPE_COUNT;
    }
}

static enum status check_shape(struct tfl_importer *m, const struct tfl_tensor *t,
                               enum ir_type type)
{
    const uint32_t rank = t->shape.n;

    if (rank > IR_MAX_RANK)
        return FAIL(m->d, ST_UNSUPPORTED, "expected at most %d dimensions, found %u", IR_MAX_RANK,
                    rank);
    for (uint32_t i = 0; i < rank; i++)
        if (t->shape.v[i] < 1)
            return FAIL(m->d, t->shape.v[i] < 0 ? ST_UNSUPPORTED : ST_MODEL,
                        "dimension %u: expected a fixed size of at least 1, found %d", i,
                        t->shape.v[i]);
    if (!ir_shape_ok(rank, t->shape.v, type))
        return FAIL(m->d, ST_MODEL, "shape %s of %s: expected at most 2147483647 bytes",
                    ir_shape_text(m->arena, rank, t->shape.v), ir_type_name(type));
    return ST_OK;
}

static enum status check_zero_point(struct tfl_importer *m, enum ir_type type, int64_t z)
{
    const int64_t low = type == IR_I8 ? INT8_MIN : type == IR_I16 ? INT16_MIN : 0;
    const int64_t high = type == IR_I8    ? INT8_MAX
                         : type == IR_I16 ? INT16_MAX
                         : type == IR_U8  ? UINT8_MAX
                                          : 0;

    if (z >= low && z <= high)
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "zero point of %s: expected %lld to %lld, found %lld",
                ir_type_name(type), (long long)low, (long long)high, (long long)z);
}

int64_t tfl_zero_point(const struct tfl_tensor *t, uint32_t i)
{
    int64_t z; /* the format aligns vectors to 4 bytes */

    if (i >= t->n_zero_point)
        return 0;
    memcpy(&z, (const uint8_t *)t->zero_point + (size_t)i * sizeof z, sizeof z);
    return z;
}

static bool has_data(const struct tfl_importer *m, const struct tfl_tensor *t)
{
    return t->buffer < m->file->n_buffer && m->file->buffer[t->buffer].n_bytes != 0;
}

static enum status check_quant(struct tfl_importer *m, const struct tfl_tensor *t,
                               enum ir_type type)
{
    if (t->n_zero_point != 0 && t->n_zero_point != t->n_scale)
        return FAIL(m->d, ST_MODEL, "expected as many zero points as scales (%u), found %u",
                    t->n_scale, t->n_zero_point);
    for (uint32_t i = 0; i < t->n_scale; i++) {
        /* The scale of a bias is not used. Writers leave 0 where all of a channel's weights or all
         * elements of a constant are 0. */
        const bool usable = type == IR_I32 || has_data(m, t) ? t->scale[i] >= 0 : t->scale[i] > 0;

        if (!isfinite(t->scale[i]) || !usable)
            return FAIL(m->d, ST_MODEL, "scale %u: expected a positive number, found %.9g", i,
                        (double)t->scale[i]);
    }
    for (uint32_t i = 0; i < t->n_zero_point; i++)
        TRY(check_zero_point(m, type, tfl_zero_point(t, i)));
    if (t->n_scale <= 1 || type == IR_I32) /* person_detect's biases carry a wrong axis */
        return ST_OK;
    if (t->axis < 0 || (uint32_t)t->axis >= t->shape.n)
        return FAIL(m->d, ST_MODEL, "quantised dimension: expected 0 to %lld, found %d",
                    (long long)t->shape.n - 1, t->axis);
    if ((uint32_t)t->shape.v[t->axis] != t->n_scale)
        return FAIL(m->d, ST_MODEL, "expected %d scales for dimension %d, found %u",
                    t->shape.v[t->axis], t->axis, t->n_scale);
    return ST_OK;
}

static void set_quant(struct tfl_importer *m, const struct tfl_tensor *t, struct ir_tensor *r)
{
    int32_t *zero_point;
    float *scale;

    if (t->n_scale == 0 || r->type == IR_I32 || r->type == IR_F32)
        return;
    zero_point = ARENA_ARRAY(m->arena, int32_t, t->n_scale);
    for (uint32_t i = 0; i < t->n_zero_point; i++)
        zero_point[i] = (int32_t)tfl_zero_point(t, i);
    r->quant.n = t->n_scale;
    r->quant.axis = t->n_scale > 1 ? (uint32_t)t->axis : 0;
    scale = arena_memdup(m->arena, t->scale, t->n_scale * sizeof *t->scale);
    for (uint32_t i = 0; i < t->n_scale; i++) /* its multiplier is 0 either way */
        scale[i] = scale[i] > 0 ? scale[i] : FLT_MIN;
    r->quant.scale = scale;
    r->quant.zero_point = zero_point;
}

static uint64_t stored_bytes(const struct tfl_tensor *t, const struct ir_tensor *r)
{
    return t->type == FLOAT16 ? ir_elements(r) * 2
           : t->type == INT4  ? (ir_elements(r) + 1) / 2
                              : ir_bytes(r);
}

/* The data in r's type; an INT4 is half a byte, the lower half first. */
static const uint8_t *unpacked(struct tfl_importer *m, const struct tfl_tensor *t,
                               const struct ir_tensor *r, const uint8_t *data)
{
    uint8_t *const to = arena_alloc(m->arena, (size_t)ir_bytes(r));

    for (uint64_t i = 0; i < ir_elements(r); i++) {
        if (t->type == INT4) {
            const uint32_t half = (uint32_t)data[i / 2] >> (i % 2 * 4) & 15u;

            to[i] = (uint8_t)(half < 8 ? half : half | 0xf0u);
        } else {
            const float value = half_to_float((uint16_t)(data[2 * i] | data[2 * i + 1] << 8));

            memcpy(to + 4 * i, &value, 4);
        }
    }
    return to;
}

static enum status set_data(struct tfl_importer *m, const struct tfl_tensor *t, struct ir_tensor *r)
{
    const bool packed = t->type == FLOAT16 || t->type == INT4;
    const struct tfl_buffer *b;
    struct tfl_buffer dense;

    if (t->buffer >= m->file->n_buffer)
        return FAIL(m->d, ST_MODEL, "buffer index: expected below %u, found %u", m->file->n_buffer,
                    t->buffer);
    b = &m->file->buffer[t->buffer];
    if (b->outside)
        return FAIL(m->d, ST_MODEL, "buffer %u: its bytes exceed the file", t->buffer);
    if (b->n_bytes == 0)
        return packed
                   ? FAIL(m->d, ST_UNSUPPORTED,
                          "type %s (%d) of values that are not constant: expected it of constants",
                          t->type_name, t->type)
                   : ST_OK;
    if (t->sparsity != NULL) {
        if (t->type == INT4)
            return FAIL(m->d, ST_UNSUPPORTED, "sparse values of INT4: expected INT8");
        TRY(tfl_dense(m, t, t->type == FLOAT16 ? 2 : ir_type_bytes(r->type), b, &dense));
        b = &dense;
    }
    if (b->n_bytes != stored_bytes(t, r))
        return FAIL(m->d, ST_MODEL, "buffer %u: expected %llu bytes for %s of %s, found %zu",
                    t->buffer, (unsigned long long)stored_bytes(t, r),
                    ir_shape_text(m->arena, r->rank, r->dim),
                    packed ? t->type_name : ir_type_name(r->type), b->n_bytes);
    r->role = IR_CONST;
    if (packed || t->sparsity != NULL) {
        r->data = packed ? unpacked(m, t, r, b->data) : b->data;
        return ST_OK;
    }
    if (m->copy[t->buffer] == NULL) /* the data may be unaligned in the file */
        m->copy[t->buffer] = arena_memdup(m->arena, b->data, b->n_bytes);
    r->data = m->copy[t->buffer];
    return ST_OK;
}

static enum status make_tensor(struct tfl_importer *m, const struct tfl_tensor *t, uint32_t *id)
{
    const enum ir_type type = type_of(t->type);
    struct ir_tensor *r;

    if (type == IR_TYPE_COUNT)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "type %s (%d): expected int8, uint8, int16, int32, int64, bool, float32, or "
                    "float16 and int4 of constants",
                    t->type_name, t->type);
    if (t->has_details)
        return FAIL(m->d, ST_UNSUPPORTED, "custom quantisation details are not supported");
    if (t->is_variable)
        return FAIL(m->d, ST_UNSUPPORTED, "variable tensors (state) are not supported");
    TRY(check_shape(m, t, type));
    if (type != IR_F32)
        TRY(check_quant(m, t, type));
    r = ir_tensor_new(m->g, t->name, type, t->shape.n, t->shape.v);
    set_quant(m, t, r);
    TRY(set_data(m, t, r));
    *id = r->id;
    return ST_OK;
}

enum status tfl_tensor(struct tfl_importer *m, int32_t index, uint32_t *id)
{
    const struct tfl_tensor *t;
    enum status st;

    if (index < 0 || (uint32_t)index >= m->file->n_tensor)
        return FAIL(m->d, ST_MODEL, "tensor index: expected 0 to %lld, found %d",
                    (long long)m->file->n_tensor - 1, index);
    if (m->tensor_id[index] == IR_NONE) {
        t = &m->file->tensor[index];
        st = make_tensor(m, t, &m->tensor_id[index]);
        if (st != ST_OK) {
            diag_prefix(m->d, "tensor %d '%.80s'", index, t->name);
            return st;
        }
    }
    *id = m->tensor_id[index];
    return ST_OK;
}

enum status tfl_state(struct tfl_importer *m, int32_t index, uint32_t *id)
{
    struct tfl_tensor plain;
    struct ir_tensor *r;
    uint8_t *first;

    if (index < 0 || (uint32_t)index >= m->file->n_tensor)
        return FAIL(m->d, ST_MODEL, "state: expected a tensor from 0 to %lld, found %d",
                    (long long)m->file->n_tensor - 1, index);
    plain = m->file->tensor[index];
    if (!plain.is_variable || m->tensor_id[index] != IR_NONE || has_data(m, &plain))
        return FAIL(m->d, ST_UNSUPPORTED,
                    "state '%.80s': expected a variable tensor of this operator alone", plain.name);
    plain.is_variable = false;
    TRY(make_tensor(m, &plain, &m->tensor_id[index]));
    *id = m->tensor_id[index];
    r = m->g->tensor[*id];
    r->role = IR_VARIABLE;
    first = arena_alloc(m->arena, (size_t)ir_bytes(r));
    memset(first, r->type == IR_I8 ? ir_zero_point(r) : 0, (size_t)ir_bytes(r));
    r->data = first;
    return ST_OK;
}

static enum status narrow(struct tfl_importer *m, const struct ir_tensor *t, const char *what,
                          uint32_t n, int32_t *value)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t v;

        memcpy(&v, t->data + (size_t)i * 8, 8);
        if (v < INT32_MIN || v > INT32_MAX)
            return FAIL(m->d, ST_MODEL, "%s '%.80s': value %lld does not fit 32 bits", what,
                        t->name, (long long)v);
        value[i] = (int32_t)v;
    }
    return ST_OK;
}

enum status tfl_param(struct tfl_importer *m, int32_t index, const char *what, uint32_t *n,
                      const int32_t **value)
{
    const struct ir_tensor *t;
    int32_t *wide;
    uint32_t id;

    TRY(tfl_tensor(m, index, &id));
    t = m->g->tensor[id];
    if (t->role != IR_CONST)
        return FAIL(m->d, ST_UNSUPPORTED, "%s '%.80s': expected a constant", what, t->name);
    if (t->type != IR_I32 && t->type != IR_I64)
        return FAIL(m->d, ST_UNSUPPORTED, "%s '%.80s': expected type i32 or i64, found %s", what,
                    t->name, ir_type_name(t->type));
    *n = (uint32_t)ir_elements(t);
    if (t->type == IR_I32) {
        *value = (const int32_t *)(const void *)t->data;
        return ST_OK;
    }
    wide = ARENA_ARRAY(m->arena, int32_t, *n);
    *value = wide;
    return narrow(m, t, what, *n, wide);
}

uint32_t tfl_new_const(struct tfl_importer *m, const char *name, uint32_t rank, const int32_t *dim,
                       const int32_t *value)
{
    struct ir_tensor *t = ir_tensor_new(m->g, name, IR_I32, rank, dim);

    t->role = IR_CONST;
    t->data = arena_memdup(m->arena, value, ir_bytes(t));
    return t->id;
}

bool tfl_has_open_sizes(const struct tfl_file *f)
{
    for (uint32_t i = 0; i < f->n_tensor; i++)
        for (uint32_t k = 0; k < f->tensor[i].signature.n; k++)
            if (f->tensor[i].signature.v[k] < 0)
                return true;
    return false;
}
