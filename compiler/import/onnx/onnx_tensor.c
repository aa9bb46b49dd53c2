/* onnx_tensor.c - names and constant tensors of an ONNX file. */
#define _GNU_SOURCE
#include "base/text.h"
#include "onnx_import.h"

#include "operators/half.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t find_slot(const struct ox *m, const char *name)
{
    uint32_t i = text_hash(TEXT_HASH, name, strlen(name)) & (m->n_slot - 1);

    while (m->slot[i] != 0 && strcmp(m->value[m->slot[i] - 1].name, name) != 0)
        i = (i + 1) & (m->n_slot - 1);
    return i;
}

static void grow(struct ox *m)
{
    struct ox_value *value;

    m->cap_value = m->cap_value == 0 ? 256 : m->cap_value * 2;
    value = ARENA_ARRAY(m->arena, struct ox_value, m->cap_value);
    if (m->n_value != 0)
        memcpy(value, m->value, m->n_value * sizeof *value);
    m->value = value;
    m->n_slot = m->cap_value * 2;
    m->slot = ARENA_ARRAY(m->arena, uint32_t, m->n_slot);
    for (uint32_t i = 0; i < m->n_value; i++)
        m->slot[find_slot(m, m->value[i].name)] = i + 1;
}

uint32_t ox_name(struct ox *m, const char *name)
{
    uint32_t slot;

    if (m->n_value == m->cap_value)
        grow(m);
    slot = find_slot(m, name);
    if (m->slot[slot] == 0) {
        m->value[m->n_value] = (struct ox_value){.name = name, .maker = IR_NONE, .tensor = IR_NONE};
        m->slot[slot] = ++m->n_value;
    }
    return m->slot[slot] - 1;
}

struct ox_value *ox_called_value(struct ox *m, const char *name)
{
    const uint32_t i = ox_name(m, name ? name : "");

    return &m->value[i];
}

const char *ox_type_name(int32_t type)
{
    static const char *const names[] = {"undefined",  "float32", "uint8",  "int8",   "uint16",
                                        "int16",      "int32",   "int64",  "string", "bool",
                                        "float16",    "double",  "uint32", "uint64", "complex64",
                                        "complex128", "bfloat16"};

    return type >= 0 && type < (int32_t)(sizeof names / sizeof *names) ? names[type]
           : type >= 17 && type <= 20                                  ? "float8"
           : type == 21                                                ? "uint4"
           : type == 22                                                ? "int4"
                                                                       : "unknown";
}

size_t ox_type_bytes(int32_t type)
{
    switch (type) {
    case OX_UINT8:
    case OX_INT8:
    case OX_BOOL: return 1;
    case OX_UINT16:
    case OX_INT16:
    case OX_HALF:
    case OX_BFLOAT: return 2;
    case OX_FLOAT:
    case OX_UINT32:
    case OX_INT32: return 4;
    case OX_UINT64:
    case OX_INT64:
    case OX_DOUBLE: return 8;
    default: return 0;
    }
}

enum ir_type ox_border_type(int32_t type, enum ir_stored *stored)
{
    static const struct {
        int32_t type;
        enum ir_stored stored;
        enum ir_type as;
    } table[] = {
        {OX_HALF, IR_STORED_F16, IR_F32},   {OX_BFLOAT, IR_STORED_BF16, IR_F32},
        {OX_DOUBLE, IR_STORED_F64, IR_F32}, {OX_UINT16, IR_STORED_U16, IR_I32},
        {OX_INT16, IR_STORED_I16, IR_I32},  {OX_UINT32, IR_STORED_U32, IR_I64},
        {OX_UINT64, IR_STORED_U64, IR_I64},
    };

    *stored = IR_STORED_ALIKE;
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].type == type) {
            *stored = table[i].stored;
            return table[i].as;
        }
    return ox_ir_type(type);
}

enum ir_type ox_ir_type(int32_t type)
{
    switch (type) {
    case OX_FLOAT: return IR_F32;
    case OX_UINT8: return IR_U8;
    case OX_INT8: return IR_I8;
    case OX_INT32: return IR_I32;
    case OX_INT64: return IR_I64;
    case OX_BOOL: return IR_BOOL;
    default: return IR_TYPE_COUNT;
    }
}

enum status ox_shape(struct ox *m, const char *what, size_t rank, const int64_t *dim, int32_t type,
                     struct ox_const *c)
{
    const uint64_t size = ox_type_bytes(type);

    if (size == 0)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "%s: type %s (%d): expected floats or integers of 8 to 64 bits, or bool", what,
                    ox_type_name(type), type);
    if (rank > IR_MAX_RANK)
        return FAIL(m->d, ST_UNSUPPORTED, "%s: expected at most %d dimensions, found %zu", what,
                    IR_MAX_RANK, rank);
    *c = (struct ox_const){.type = type, .rank = (uint32_t)rank, .n = 1};
    for (uint32_t i = 0; i < rank; i++) {
        if (dim[i] < 0)
            return FAIL(m->d, ST_MODEL, "%s: dimension %u: expected at least 0, found %lld", what,
                        i, (long long)dim[i]);
        if (dim[i] > INT32_MAX || c->n * (uint64_t)dim[i] > INT32_MAX / size)
            return FAIL(m->d, ST_MODEL,
                        "%s: dimension %u is %lld: expected at most 2147483647 bytes"
                        " in all",
                        what, i, (long long)dim[i]);
        c->dim[i] = (int32_t)dim[i];
        c->n *= (uint64_t)dim[i];
    }
    return ST_OK;
}

int64_t ox_int(const struct ox_const *c, uint64_t i)
{
    switch (c->type) {
    case OX_INT8: return ((const int8_t *)c->data)[i];
    case OX_INT16: return ((const int16_t *)c->data)[i];
    case OX_UINT16: return ((const uint16_t *)c->data)[i];
    case OX_INT32: return ((const int32_t *)c->data)[i];
    case OX_INT64: return ((const int64_t *)c->data)[i];
    case OX_FLOAT: return (int64_t)((const float *)c->data)[i];
    case OX_DOUBLE: return (int64_t)((const double *)c->data)[i];
    default: return ((const uint8_t *)c->data)[i];
    }
}

double ox_number(const struct ox_const *c, uint64_t i)
{
    if (c->type == OX_FLOAT)
        return (double)((const float *)c->data)[i];
    if (c->type == OX_DOUBLE)
        return ((const double *)c->data)[i];
    return (double)ox_int(c, i);
}

void *ox_new_const(struct ox *m, struct ox_const *c, int32_t type, uint32_t rank,
                   const int32_t *dim)
{
    void *data;
    uint64_t n = 1;

    *c = (struct ox_const){.type = type, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) {
        c->dim[i] = dim[i];
        n *= (uint64_t)dim[i];
    }
    c->n = n;
    data = arena_alloc(m->arena, (size_t)n * ox_type_bytes(type));
    c->data = data;
    return data;
}

static const char *external(const Onnx__TensorProto *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++)
        if (t->external_data[i]->key && strcmp(t->external_data[i]->key, key) == 0)
            return t->external_data[i]->value ? t->external_data[i]->value : "";
    return NULL;
}

static enum status external_number(struct ox *m, const Onnx__TensorProto *t, const char *key,
                                   uint64_t otherwise, uint64_t *v)
{
    const char *text = external(t, key);
    char *end;

    *v = otherwise;
    if (text == NULL)
        return ST_OK;
    errno = 0;
    *v = strtoull(text, &end, 10);
    if (end == text || *end || errno || text[0] == '-')
        return FAIL(m->d, ST_MODEL, "external data: %s: expected a number, found '%.40s'", key,
                    text);
    return ST_OK;
}

/* Opened beneath the model's folder only: no absolute path, no "..", no link that leads out. */
static int open_beneath(const char *folder, const char *path)
{
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    const int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd;

    if (dir < 0)
        return -1;
    fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
    close(dir);
    return fd;
}

static enum status read_at(struct ox *m, int fd, uint64_t offset, uint64_t n, void *data,
                           const char *path)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return FAIL(m->d, ST_MODEL, "external data '%.80s': expected a regular file", path);
    if (offset > (uint64_t)st.st_size || n > (uint64_t)st.st_size - offset)
        return FAIL(
            m->d, ST_MODEL,
            "external data '%.80s': %llu bytes from byte %llu exceed the file of %llu bytes", path,
            (unsigned long long)n, (unsigned long long)offset, (unsigned long long)st.st_size);
    for (uint64_t done = 0; done < n;) {
        const ssize_t got =
            pread(fd, (uint8_t *)data + done, (size_t)(n - done), (off_t)(offset + done));

        if (got <= 0)
            return FAIL(m->d, ST_MODEL, "external data '%.80s': cannot be read", path);
        done += (uint64_t)got;
    }
    return ST_OK;
}

static enum status read_external(struct ox *m, const Onnx__TensorProto *t, struct ox_const *c)
{
    const char *path = external(t, "location");
    const uint64_t want = c->n * ox_type_bytes(c->type);
    uint64_t offset, n;
    enum status st;
    void *data;
    int fd;

    if (path == NULL || *path == '\0')
        return FAIL(m->d, ST_MODEL, "external data: expected a location, found none");
    if (m->options->folder == NULL)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "external data '%.80s': not read unless --allow-external-data is given", path);
    TRY(external_number(m, t, "offset", 0, &offset));
    TRY(external_number(m, t, "length", want, &n));
    if (n != want)
        return FAIL(m->d, ST_MODEL, "external data '%.80s': expected %llu bytes, found %llu", path,
                    (unsigned long long)want, (unsigned long long)n);
    fd = open_beneath(m->options->folder, path);
    if (fd < 0)
        return FAIL(m->d, ST_MODEL,
                    "external data '%.80s': %s; only files beneath the model's folder are opened",
                    path, strerror(errno));
    data = ox_new_const(m, c, c->type, c->rank,
                        (const int32_t[IR_MAX_RANK]){c->dim[0], c->dim[1], c->dim[2], c->dim[3],
                                                     c->dim[4], c->dim[5]});
    st = read_at(m, fd, offset, want, data, path);
    close(fd);
    return st;
}

static enum status want_count(struct ox *m, const char *where, size_t n, uint64_t want)
{
    if (n == want)
        return ST_OK;
    return FAIL(m->d, ST_MODEL, "%s: expected %llu values, found %zu", where,
                (unsigned long long)want, n);
}

/* The elements of a field that holds them in their own type. */
static enum status take_field(struct ox *m, const char *where, size_t n, const void *data,
                              struct ox_const *c)
{
    TRY(want_count(m, where, n, c->n));
    c->data = arena_memdup(m->arena, data, (size_t)c->n * ox_type_bytes(c->type));
    return ST_OK;
}

/* Elements from the field of their type. Those of 8 and 16 bits and bool are in int32_data. */
static enum status read_fields(struct ox *m, const Onnx__TensorProto *t, struct ox_const *c)
{
    const size_t size = ox_type_bytes(c->type);
    uint8_t *bytes;

    switch (c->type) {
    case OX_FLOAT: return take_field(m, "float_data", t->n_float_data, t->float_data, c);
    case OX_DOUBLE: return take_field(m, "double_data", t->n_double_data, t->double_data, c);
    case OX_INT64: return take_field(m, "int64_data", t->n_int64_data, t->int64_data, c);
    case OX_UINT64: return take_field(m, "uint64_data", t->n_uint64_data, t->uint64_data, c);
    case OX_UINT32:
        TRY(want_count(m, "uint64_data", t->n_uint64_data, c->n));
        bytes = arena_alloc(m->arena, (size_t)c->n * 4);
        for (uint64_t i = 0; i < c->n; i++)
            memcpy(bytes + 4 * i, &t->uint64_data[i], 4);
        c->data = bytes;
        return ST_OK;
    case OX_INT32: return take_field(m, "int32_data", t->n_int32_data, t->int32_data, c);
    default: break;
    }
    TRY(want_count(m, "int32_data", t->n_int32_data, c->n));
    bytes = arena_alloc(m->arena, (size_t)c->n * size);
    for (uint64_t i = 0; i < c->n; i++) {
        const int32_t low = c->type == OX_BOOL ? 0 : ox_lowest(c->type);
        const int32_t high = c->type == OX_BOOL ? 1 : ox_highest(c->type);

        if (t->int32_data[i] < low || t->int32_data[i] > high)
            return FAIL(m->d, ST_MODEL, "int32_data: %s value %d is out of range",
                        ox_type_name(c->type), t->int32_data[i]);
        memcpy(bytes + i * size, &t->int32_data[i], size); /* little-endian */
    }
    c->data = bytes;
    return ST_OK;
}

/* Constants of types that the IR does not have become those that carry them. */
static enum status carried(struct ox *m, struct ox_const *c)
{
    const struct ox_const from = *c;
    void *to;

    if (c->type == OX_HALF || c->type == OX_BFLOAT) {
        float *value = ox_new_const(m, c, OX_FLOAT, from.rank, from.dim);

        for (uint64_t i = 0; i < c->n; i++) {
            const uint16_t bits = ((const uint16_t *)from.data)[i];

            value[i] = from.type == OX_HALF ? half_to_float(bits) : bfloat_to_float(bits);
        }
    } else if (c->type == OX_UINT32 || c->type == OX_UINT64) {
        to = ox_new_const(m, c, OX_INT64, from.rank, from.dim);
        for (uint64_t i = 0; i < c->n; i++) {
            if (from.type == OX_UINT64 && ((const uint64_t *)from.data)[i] > INT64_MAX)
                return FAIL(m->d, ST_UNSUPPORTED, "element %llu: expected at most 2^63 - 1",
                            (unsigned long long)i);
            ((int64_t *)to)[i] = from.type == OX_UINT64 ? ((const int64_t *)from.data)[i]
                                                        : ((const uint32_t *)from.data)[i];
        }
    }
    return ST_OK;
}

/* int4 and uint4: two a byte, the lower half first; they become int8 and uint8. */
static enum status read_halves(struct ox *m, const Onnx__TensorProto *t, struct ox_const *c)
{
    const bool is_signed = t->data_type == OX_INT4;
    uint8_t *to;

    TRY(ox_shape(m, "tensor", t->n_dims, t->dims, is_signed ? OX_INT8 : OX_UINT8, c));
    if ((t->has_raw_data ? t->raw_data.len : t->n_int32_data) != (c->n + 1) / 2)
        return FAIL(m->d, ST_MODEL, "%s: expected %llu bytes, found %zu",
                    ox_type_name(t->data_type), (unsigned long long)(c->n + 1) / 2,
                    t->has_raw_data ? t->raw_data.len : t->n_int32_data);
    to = arena_alloc(m->arena, (size_t)c->n);
    for (uint64_t i = 0; i < c->n; i++) {
        const uint32_t pair =
            t->has_raw_data ? t->raw_data.data[i / 2] : (uint32_t)t->int32_data[i / 2];
        const uint32_t half = pair >> i % 2 * 4 & 15;

        to[i] = (uint8_t)(is_signed && half > 7 ? half | 0xf0 : half);
    }
    c->data = to;
    c->halves = true;
    return ST_OK;
}

static enum status read_elements(struct ox *m, const Onnx__TensorProto *t, struct ox_const *c)
{
    if ((t->data_type == OX_INT4 || t->data_type == OX_UINT4) &&
        !(t->has_data_location && t->data_location == 1))
        return read_halves(m, t, c);
    TRY(ox_shape(m, "tensor", t->n_dims, t->dims, t->data_type, c));
    if (t->segment)
        return FAIL(m->d, ST_UNSUPPORTED, "tensor: stored in segments");
    if (t->has_data_location && t->data_location == 1)
        return read_external(m, t, c);
    if (!t->has_raw_data)
        return read_fields(m, t, c);
    if (t->raw_data.len != c->n * ox_type_bytes(c->type))
        return FAIL(m->d, ST_MODEL, "raw_data: expected %llu bytes, found %zu",
                    (unsigned long long)(c->n * ox_type_bytes(c->type)), t->raw_data.len);
    c->data = arena_memdup(m->arena, t->raw_data.data, t->raw_data.len);
    return ST_OK;
}

enum status ox_initializer(struct ox *m, const Onnx__TensorProto *t, struct ox_const *c)
{
    TRY(read_elements(m, t, c));
    return carried(m, c);
}

bool ox_is_wide(int32_t type)
{
    return type == OX_INT16 || type == OX_UINT16;
}

int32_t ox_lowest(int32_t type)
{
    return type == OX_INT8 ? -128 : type == OX_INT16 ? -32768 : 0;
}

int32_t ox_highest(int32_t type)
{
    return ox_lowest(type) +
           (ox_is_wide(type) || type == OX_HALF || type == OX_BFLOAT ? 65535 : 255);
}
