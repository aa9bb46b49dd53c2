/* gguf.h - GGUF files: settings by name, and tensors whose values are in blocks. */
#ifndef HEDDLE_COMPILER_IMPORT_GGUF_GGUF_H
#define HEDDLE_COMPILER_IMPORT_GGUF_GGUF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* Types of settings, as in the file. */
enum gguf_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPES
};

/* Bytes of the file, not terminated. */
struct gguf_string {
    const char *text;
    size_t n;
};

struct gguf_setting {
    const char *key;
    enum gguf_type type; /* of an array: that of its elements */
    bool is_array;
    uint64_t n;        /* elements; 1 unless it is an array */
    const uint8_t *at; /* the elements in the file; strings each with their length before them */
};

struct gguf_tensor {
    const char *name;
    uint32_t type, rank; /* type: number in the file, one that gguf_row reads */
    uint64_t dim[4];     /* dim[0] neighbours in memory; 1 beyond the rank */
    const uint8_t *data;
};

struct gguf {
    struct arena *arena;
    uint32_t n_setting, n_tensor;
    struct gguf_setting *setting;
    struct gguf_tensor *tensor;
};

/* Read a file of version 2 or 3 with every count, length and offset within its bytes, which must
 * stay. ST_MODEL: malformed; ST_UNSUPPORTED: another version, big endian, a type of tensor that
 * gguf_row does not read. */
enum status gguf_read(struct arena *a, const uint8_t *data, size_t n_bytes, struct gguf *f,
                      struct diag *d);

/* Return the setting or tensor called `key`; NULL: there is none. */
const struct gguf_setting *gguf_find(const struct gguf *f, const char *key);
const struct gguf_tensor *gguf_tensor(const struct gguf *f, const char *name);
/* Numbers and texts by name, `otherwise` if absent or of another type. */
double gguf_number(const struct gguf *f, const char *key, double otherwise);
const char *gguf_text(const struct gguf *f, const char *key, const char *otherwise);

/* Return element `i` of an array of numbers. */
double gguf_element(const struct gguf_setting *s, uint64_t i);
/* An array of strings; ST_MODEL if it is absent or has other elements. */
enum status gguf_strings(const struct gguf *f, const char *key, struct gguf_string **list,
                         uint32_t *n, struct diag *d);

/* Write the dim[0] values of row `row`, counted over the other dimensions, as float32. */
void gguf_row(const struct gguf_tensor *t, uint64_t row, float *to);

#endif
