/* gguf.c - see gguf.h. A file is a header, settings, descriptions of tensors, then their bytes. */
#include "gguf.h"

#include <math.h>
#include <string.h>

#include "gguf_blocks.h"

enum {
    MOST_SETTINGS = 1 << 16,
    MOST_TENSORS = 1 << 16,
    MOST_NAME = 1 << 16,
    MOST_ALIGNMENT = 1 << 16,
    TENSOR_RANK = 4
};

/* The part of the file that is not read yet. */
struct reader {
    const uint8_t *data, *p;
    size_t left;
    struct arena *a;
    struct diag *d;
};

static const uint8_t type_bytes[GGUF_TYPES] = {
    [GGUF_U8] = 1,  [GGUF_I8] = 1,   [GGUF_U16] = 2, [GGUF_I16] = 2, [GGUF_U32] = 4, [GGUF_I32] = 4,
    [GGUF_F32] = 4, [GGUF_BOOL] = 1, [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8};

static enum status take(struct reader *r, const char *what, uint64_t n, const uint8_t **at)
{
    if (n > r->left)
        return FAIL(r->d, ST_MODEL, "%s at byte %zu: expected %llu bytes, found %zu", what,
                    (size_t)(r->p - r->data), (unsigned long long)n, r->left);
    *at = r->p;
    r->p += n;
    r->left -= n;
    return ST_OK;
}

static uint64_t little(const uint8_t *p, uint32_t n)
{
    uint64_t v = 0;

    for (uint32_t i = 0; i < n; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static enum status take_number(struct reader *r, const char *what, uint32_t n, uint64_t *v)
{
    const uint8_t *at;

    TRY(take(r, what, n, &at));
    *v = little(at, n);
    return ST_OK;
}

static enum status take_count(struct reader *r, const char *what, uint64_t most, uint64_t *n)
{
    TRY(take_number(r, what, 8, n));
    if (*n > most)
        return FAIL(r->d, ST_MODEL, "%s: expected at most %llu, found %llu", what,
                    (unsigned long long)most, (unsigned long long)*n);
    return ST_OK;
}

static enum status take_name(struct reader *r, const char *what, const char **name)
{
    const uint8_t *at;
    uint64_t n;

    TRY(take_count(r, what, MOST_NAME, &n));
    TRY(take(r, what, n, &at));
    if (memchr(at, 0, n))
        return FAIL(r->d, ST_MODEL, "%s at byte %zu: has a byte of 0", what,
                    (size_t)(at - r->data));
    *name = arena_strndup(r->a, (const char *)at, n);
    return ST_OK;
}

static enum status take_elements(struct reader *r, struct gguf_setting *s)
{
    const uint8_t *at;
    uint64_t n;

    s->at = r->p;
    if (s->type != GGUF_STRING) {
        if (s->n > r->left)
            return FAIL(r->d, ST_MODEL, "expected %llu elements, found %zu bytes",
                        (unsigned long long)s->n, r->left);
        return take(r, "value", s->n * type_bytes[s->type], &at);
    }
    for (uint64_t i = 0; i < s->n; i++) {
        TRY(take_number(r, "string", 8, &n));
        TRY(take(r, "string", n, &at));
    }
    return ST_OK;
}

static enum status take_setting(struct reader *r, struct gguf_setting *s)
{
    uint64_t type;

    TRY(take_number(r, "type", 4, &type));
    s->n = 1;
    s->is_array = type == GGUF_ARRAY;
    if (s->is_array) {
        TRY(take_number(r, "type of elements", 4, &type));
        TRY(take_number(r, "number of elements", 8, &s->n));
    }
    if (type >= GGUF_TYPES || type == GGUF_ARRAY)
        return FAIL(r->d, ST_MODEL, "expected a type of 0 to %d%s, found %llu", GGUF_TYPES - 1,
                    s->is_array ? " other than an array" : "", (unsigned long long)type);
    s->type = (enum gguf_type)type;
    return take_elements(r, s);
}

static enum status take_settings(struct reader *r, struct gguf *f)
{
    for (uint32_t i = 0; i < f->n_setting; i++) {
        enum status st = take_name(r, "name of a setting", &f->setting[i].key);

        if (st == ST_OK && (st = take_setting(r, &f->setting[i])) != ST_OK)
            diag_prefix(r->d, "setting %u '%.80s'", i, f->setting[i].key);
        TRY(st);
    }
    return ST_OK;
}

/* Read a description; *offset: of the tensor's bytes after the last description. */
static enum status take_tensor(struct reader *r, struct gguf_tensor *t, uint64_t *offset)
{
    uint64_t rank, type, rows = 1;

    TRY(take_number(r, "number of dimensions", 4, &rank));
    if (rank < 1 || rank > TENSOR_RANK)
        return FAIL(r->d, ST_MODEL, "expected 1 to %d dimensions, found %llu", TENSOR_RANK,
                    (unsigned long long)rank);
    t->rank = (uint32_t)rank;
    for (uint32_t k = 0; k < TENSOR_RANK; k++) {
        t->dim[k] = 1;
        if (k < rank)
            TRY(take_number(r, "dimension", 8, &t->dim[k]));
        if (t->dim[k] < 1 || t->dim[k] > INT32_MAX)
            return FAIL(r->d, ST_MODEL, "dimension %u: expected 1 to 2147483647, found %llu", k,
                        (unsigned long long)t->dim[k]);
        rows *= k ? t->dim[k] : 1;
        if (rows > INT32_MAX || rows * t->dim[0] > INT32_MAX)
            return FAIL(r->d, ST_UNSUPPORTED, "expected at most 2147483647 elements");
    }
    TRY(take_number(r, "type", 4, &type));
    TRY(take_number(r, "offset", 8, offset));
    t->type = (uint32_t)type;
    return ST_OK;
}

/* Point the tensor at its bytes among the `left` from `base` on. */
static enum status place(const struct reader *r, struct gguf_tensor *t, uint64_t offset,
                         uint64_t alignment)
{
    uint64_t n;

    TRY(gguf_row_bytes(t, &n, r->d));
    n *= t->dim[1] * t->dim[2] * t->dim[3];
    if (offset % alignment != 0)
        return FAIL(r->d, ST_MODEL, "offset: expected a multiple of %llu, found %llu",
                    (unsigned long long)alignment, (unsigned long long)offset);
    if (offset > r->left || n > r->left - offset)
        return FAIL(r->d, ST_MODEL, "offset %llu: expected %llu bytes from there, found %llu",
                    (unsigned long long)offset, (unsigned long long)n,
                    offset > r->left ? 0 : (unsigned long long)(r->left - offset));
    t->data = r->p + offset;
    return ST_OK;
}

static enum status take_tensors(struct reader *r, struct gguf *f)
{
    uint64_t *offset = ARENA_ARRAY(r->a, uint64_t, f->n_tensor + 1);
    const uint64_t alignment = (uint64_t)gguf_number(f, "general.alignment", 32);
    const uint8_t *skipped;
    enum status st = ST_OK;
    uint32_t i = 0;

    if (alignment < 1 || alignment > MOST_ALIGNMENT)
        return FAIL(r->d, ST_MODEL, "general.alignment: expected 1 to %d", MOST_ALIGNMENT);
    for (; i < f->n_tensor && st == ST_OK; i++) {
        TRY(take_name(r, "name of a tensor", &f->tensor[i].name));
        st = take_tensor(r, &f->tensor[i], &offset[i]);
    }
    if (st == ST_OK) {
        const uint64_t behind = (uint64_t)(r->p - r->data) % alignment;
        TRY(take(r, "space before the tensors", behind ? alignment - behind : 0, &skipped));
        for (i = 0; i < f->n_tensor && st == ST_OK; i++)
            st = place(r, &f->tensor[i], offset[i], alignment);
    }
    if (st != ST_OK)
        diag_prefix(r->d, "tensor %u '%.80s'", i - 1, f->tensor[i - 1].name);
    return st;
}

enum status gguf_read(struct arena *a, const uint8_t *data, size_t n_bytes, struct gguf *f,
                      struct diag *d)
{
    struct reader r = {data, data, n_bytes, a, d};
    const uint8_t *magic;
    uint64_t version, n_tensor, n_setting;

    *f = (struct gguf){.arena = a};
    TRY(take(&r, "header", 4, &magic));
    if (memcmp(magic, "GGUF", 4) != 0)
        return FAIL(d, ST_MODEL, "not a GGUF file: it does not begin with \"GGUF\"");
    TRY(take_number(&r, "version", 4, &version));
    if (version != 2 && version != 3)
        return FAIL(d, ST_UNSUPPORTED, "GGUF version: expected 2 or 3, little endian, found %llu",
                    (unsigned long long)version);
    TRY(take_count(&r, "number of tensors", MOST_TENSORS, &n_tensor));
    TRY(take_count(&r, "number of settings", MOST_SETTINGS, &n_setting));
    f->n_tensor = (uint32_t)n_tensor;
    f->n_setting = (uint32_t)n_setting;
    f->setting = ARENA_ARRAY(a, struct gguf_setting, f->n_setting + 1);
    f->tensor = ARENA_ARRAY(a, struct gguf_tensor, f->n_tensor + 1);
    TRY(take_settings(&r, f));
    return take_tensors(&r, f);
}

const struct gguf_setting *gguf_find(const struct gguf *f, const char *key)
{
    for (uint32_t i = 0; i < f->n_setting; i++)
        if (f->setting[i].key && strcmp(f->setting[i].key, key) == 0)
            return &f->setting[i];
    return NULL;
}

const struct gguf_tensor *gguf_tensor(const struct gguf *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_tensor; i++)
        if (strcmp(f->tensor[i].name, name) == 0)
            return &f->tensor[i];
    return NULL;
}

double gguf_element(const struct gguf_setting *s, uint64_t i)
{
    const uint32_t n = type_bytes[s->type];
    const uint64_t v = little(s->at + i * n, n);
    const uint32_t low = (uint32_t)v;
    float f;
    double g;

    switch (s->type) {
    case GGUF_I8: return (int8_t)v;
    case GGUF_I16: return (int16_t)v;
    case GGUF_I32: return (int32_t)v;
    case GGUF_I64: return (double)(int64_t)v;
    case GGUF_F32: memcpy(&f, &low, sizeof f); return (double)f;
    case GGUF_F64: memcpy(&g, &v, sizeof g); return g;
    default: return (double)v;
    }
}

double gguf_number(const struct gguf *f, const char *key, double otherwise)
{
    const struct gguf_setting *s = gguf_find(f, key);
    double v;

    if (!s || s->is_array || s->type == GGUF_STRING)
        return otherwise;
    v = gguf_element(s, 0);
    return v >= -1e15 && v <= 1e15 ? v : otherwise;
}

const char *gguf_text(const struct gguf *f, const char *key, const char *otherwise)
{
    const struct gguf_setting *s = gguf_find(f, key);

    if (!s || s->is_array || s->type != GGUF_STRING)
        return otherwise;
    return arena_strndup(f->arena, (const char *)s->at + 8, (size_t)little(s->at, 8));
}

enum status gguf_strings(const struct gguf *f, const char *key, struct gguf_string **list,
                         uint32_t *n, struct diag *d)
{
    const struct gguf_setting *s = gguf_find(f, key);
    const uint8_t *p;

    if (!s || !s->is_array || s->type != GGUF_STRING || s->n > INT32_MAX)
        return FAIL(d, ST_MODEL, "setting '%s': expected a list of strings", key);
    *n = (uint32_t)s->n;
    *list = ARENA_ARRAY(f->arena, struct gguf_string, s->n + 1);
    p = s->at;
    for (uint32_t i = 0; i < *n; i++) {
        (*list)[i] = (struct gguf_string){(const char *)p + 8, (size_t)little(p, 8)};
        p += 8 + (*list)[i].n;
    }
    return ST_OK;
}
