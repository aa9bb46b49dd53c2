/* onnx_bytes.c - see onnx_bytes.h. A field is a tag of field number and wire type, then a varint (7
 * bits per byte), or 4 bytes, or a length and that number of bytes. The numbers of fields and types
 * are those of onnx.proto. */
#include "onnx_bytes.h"

#include <string.h>

enum kind { NUMBER = 0, BYTES = 2, FOUR_BYTES = 5 };

static void add_number(struct text *t, uint64_t v)
{
    char byte[10];
    size_t n = 0;

    for (; v > 127; v >>= 7)
        byte[n++] = (char)((v & 127) | 128);
    byte[n++] = (char)v;
    text_add_n(t, byte, n);
}

static void tag(struct text *t, uint32_t field, enum kind kind)
{
    add_number(t, (uint64_t)field << 3 | kind);
}

static void number(struct text *t, uint32_t field, int64_t v)
{
    tag(t, field, NUMBER);
    add_number(t, (uint64_t)v);
}

static void bytes(struct text *t, uint32_t field, const void *data, size_t n)
{
    tag(t, field, BYTES);
    add_number(t, n);
    text_add_n(t, data, n);
}

static void words(struct text *t, uint32_t field, const char *s)
{
    bytes(t, field, s, strlen(s));
}

static void message(struct text *t, uint32_t field, const struct text *m)
{
    bytes(t, field, m->length ? m->data : "", m->length);
}

static struct text part_of(const struct text *t)
{
    struct text part;

    text_init(&part, t->arena);
    return part;
}

/* --- attributes --- */

enum { ATTR_FLOAT = 1, ATTR_INT = 2, ATTR_TEXT = 3, ATTR_INTS = 7 };

static void attribute(struct text *t, struct text *part, int64_t type)
{
    number(part, 20, type);
    message(t, 5, part);
}

void onnx_attr_int(struct text *t, const char *name, int64_t value)
{
    struct text part = part_of(t);

    words(&part, 1, name);
    number(&part, 3, value);
    attribute(t, &part, ATTR_INT);
}

void onnx_attr_float(struct text *t, const char *name, float value)
{
    struct text part = part_of(t);
    char raw[4];

    memcpy(raw, &value, 4);
    words(&part, 1, name);
    tag(&part, 2, FOUR_BYTES);
    text_add_n(&part, raw, 4);
    attribute(t, &part, ATTR_FLOAT);
}

void onnx_attr_text(struct text *t, const char *name, const char *value)
{
    struct text part = part_of(t);

    words(&part, 1, name);
    words(&part, 4, value);
    attribute(t, &part, ATTR_TEXT);
}

void onnx_attr_ints(struct text *t, const char *name, uint32_t n, const int64_t *value)
{
    struct text part = part_of(t);

    words(&part, 1, name);
    for (uint32_t i = 0; i < n; i++)
        number(&part, 8, value[i]);
    attribute(t, &part, ATTR_INTS);
}

/* --- the graph --- */

void onnx_node(struct text *t, const struct onnx_node *n)
{
    struct text part = part_of(t);

    for (uint32_t i = 0; i < 3 && n->in[i]; i++)
        words(&part, 1, n->in[i]);
    for (uint32_t i = 0; i < n->n_more; i++)
        words(&part, 1, n->more[i]);
    words(&part, 2, n->out);
    words(&part, 4, n->op);
    if (n->attributes && n->attributes->length)
        text_add_n(&part, n->attributes->data, n->attributes->length);
    message(t, 1, &part);
}

int64_t onnx_type(enum ir_type type)
{
    static const int64_t code[IR_TYPE_COUNT] = {
        [IR_F32] = 1, [IR_U8] = 2,  [IR_I8] = 3,  [IR_I16] = 5,
        [IR_I32] = 6, [IR_I64] = 7, [IR_BOOL] = 9};

    return code[type];
}

void onnx_initializer(struct text *t, const char *name, enum ir_type type, uint32_t rank,
                      const int32_t *dim, const void *data)
{
    struct text part = part_of(t);
    size_t n = ir_type_bytes(type);

    for (uint32_t i = 0; i < rank; i++) {
        number(&part, 1, dim[i]);
        n *= (size_t)dim[i];
    }
    number(&part, 2, onnx_type(type));
    words(&part, 8, name);
    bytes(&part, 9, data, n);
    message(t, 5, &part);
}

void onnx_border(struct text *t, enum onnx_border which, const char *name, enum ir_type type,
                 uint32_t rank, const int32_t *dim)
{
    struct text shape = part_of(t), tensor = part_of(t), info = part_of(t), part = part_of(t);

    for (uint32_t i = 0; i < rank; i++) {
        struct text one = part_of(t);

        number(&one, 1, dim[i]);
        message(&shape, 1, &one);
    }
    number(&tensor, 1, onnx_type(type));
    message(&tensor, 2, &shape);
    message(&info, 1, &tensor);
    words(&part, 1, name);
    message(&part, 2, &info);
    message(t, which, &part);
}

void onnx_model(struct text *file, const char *name, int64_t opset, const struct text *nodes,
                const struct text *initializers, const struct text *borders)
{
    struct text graph = part_of(file), set = part_of(file);

    text_add_n(&graph, nodes->data, nodes->length);
    words(&graph, 2, name);
    if (initializers->length)
        text_add_n(&graph, initializers->data, initializers->length);
    text_add_n(&graph, borders->data, borders->length);
    words(&set, 1, "");
    number(&set, 2, opset);
    number(file, 1, 9); /* version of the format: that of opset 20 */
    words(file, 2, "heddle");
    message(file, 7, &graph);
    message(file, 8, &set);
}
