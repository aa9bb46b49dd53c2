/* onnx_scan.c - see onnx_scan.h. */
#include "onnx_scan.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_DEPTH = 16, MAX_FIELDS = 1000000 };

struct walk {
    const uint8_t *start; /* of the file, for offsets in messages */
    uint32_t n_fields;
    struct diag *d;
};

struct span {
    const uint8_t *p, *end;
};

static bool varint(struct span *s, uint64_t *v)
{
    *v = 0;
    for (uint32_t shift = 0; shift < 64 && s->p < s->end; shift += 7) {
        const uint8_t byte = *s->p++;

        *v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static enum status message(struct walk *w, struct span s, const ProtobufCMessageDescriptor *type,
                           uint32_t depth);

/* The value after a tag: skipped, or walked if it is a message that the format knows. */
static enum status value(struct walk *w, struct span *s, uint64_t tag,
                         const ProtobufCMessageDescriptor *type, uint32_t depth)
{
    const size_t at = (size_t)(s->p - w->start);
    const ProtobufCFieldDescriptor *field;
    uint64_t n = 0;

    switch (tag & 7) {
    case 0:
        if (!varint(s, &n))
            return FAIL(w->d, ST_MODEL, "byte %zu of the file: a number does not end", at);
        return ST_OK;
    case 1: n = 8; break;
    case 5: n = 4; break;
    case 2:
        if (!varint(s, &n))
            return FAIL(w->d, ST_MODEL, "byte %zu of the file: a length does not end", at);
        break;
    default:
        return FAIL(w->d, ST_MODEL, "byte %zu of the file: wire type %u does not exist in ONNX", at,
                    (unsigned)(tag & 7));
    }
    if (n > (uint64_t)(s->end - s->p))
        return FAIL(w->d, ST_MODEL,
                    "byte %zu of the file: a field of %llu bytes in %zu that remain", at,
                    (unsigned long long)n, (size_t)(s->end - s->p));
    field = tag >> 3 <= INT32_MAX
                ? protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3))
                : NULL;
    if ((tag & 7) == 2 && field && field->type == PROTOBUF_C_TYPE_MESSAGE)
        TRY(message(w, (struct span){s->p, s->p + n}, field->descriptor, depth + 1));
    s->p += n;
    return ST_OK;
}

static enum status message(struct walk *w, struct span s, const ProtobufCMessageDescriptor *type,
                           uint32_t depth)
{
    if (depth > MAX_DEPTH)
        return FAIL(w->d, ST_MODEL, "messages nest deeper than %d levels", MAX_DEPTH);
    while (s.p < s.end) {
        const size_t at = (size_t)(s.p - w->start);
        uint64_t tag;

        if (!varint(&s, &tag) || tag >> 3 == 0)
            return FAIL(w->d, ST_MODEL, "byte %zu of the file: no field begins here", at);
        if (++w->n_fields > MAX_FIELDS)
            return FAIL(w->d, ST_MODEL, "more than %d fields", MAX_FIELDS);
        TRY(value(w, &s, tag, type, depth));
    }
    return ST_OK;
}

/* True if a field of ModelProto, of its type, is at the begin of the file. */
static bool begins_as_model(struct span s)
{
    const ProtobufCFieldDescriptor *field;
    uint64_t tag, wire;

    if (!varint(&s, &tag) || tag >> 3 == 0 || tag >> 3 > INT32_MAX)
        return false;
    field = protobuf_c_message_descriptor_get_field(&onnx__model_proto__descriptor,
                                                    (unsigned)(tag >> 3));
    wire = field && field->type == PROTOBUF_C_TYPE_INT64 ? 0 : 2;
    return field && (tag & 7) == wire;
}

enum status onnx_scan(const uint8_t *data, size_t n_bytes, struct diag *d)
{
    struct walk w = {.start = data, .d = d};

    if (n_bytes == 0)
        return FAIL(d, ST_MODEL, "the file is empty; expected an ONNX model");
    if (!begins_as_model((struct span){data, data + n_bytes}))
        return FAIL(d, ST_MODEL,
                    "not an ONNX file: expected a field of ModelProto at byte 0, found byte 0x%02x",
                    data[0]);
    return message(&w, (struct span){data, data + n_bytes}, &onnx__model_proto__descriptor, 0);
}

struct pool {
    struct arena *arena;
    size_t left;
};

static void *pool_alloc(void *ctx, size_t n)
{
    struct pool *p = ctx;

    if (n > p->left)
        return NULL;
    p->left -= n;
    return arena_alloc(p->arena, n);
}

static void pool_free(void *ctx, void *p)
{
    (void)ctx;
    (void)p;
}

static void name_all(ProtobufCMessage *message);

/* The messages of field `f`, one or several. */
static void name_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *f)
{
    void *const member = (char *)message + f->offset;
    /* a count, or the id of one of several */
    void *const how = (char *)message + f->quantifier_offset;

    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        ProtobufCMessage *const *each = *(ProtobufCMessage ***)member;

        for (size_t i = 0; i < *(size_t *)how; i++)
            name_all(each[i]);
    } else if (*(ProtobufCMessage **)member != NULL &&
               (!(f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) || *(uint32_t *)how == f->id)) {
        name_all(*(ProtobufCMessage **)member);
    }
}

/* Give what has no name, of an attribute, a value, a node, the empty one: the format allows it, and readers compare. */
static void name_all(ProtobufCMessage *message)
{
    static char empty[] = "";

    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &message->descriptor->fields[i];

        if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
            name_field(message, f);
        } else if (f->type == PROTOBUF_C_TYPE_STRING && f->label != PROTOBUF_C_LABEL_REPEATED &&
                   strcmp(f->name, "name") == 0) {
            char **name = (char **)(void *)((char *)message + f->offset);

            *name = *name ? *name : empty;
        }
    }
}

enum status onnx_unpack(struct arena *a, const uint8_t *data, size_t n_bytes,
                        const Onnx__ModelProto **model, struct diag *d)
{
    struct pool pool = {a, ((size_t)32 << 20) + 12 * n_bytes};
    Onnx__ModelProto *unpacked;
    ProtobufCAllocator allocator = {pool_alloc, pool_free, &pool};

    TRY(onnx_scan(data, n_bytes, d));
    *model = unpacked = onnx__model_proto__unpack(&allocator, n_bytes, data);
    if (unpacked == NULL)
        return FAIL(d, ST_MODEL,
                    "the file does not unpack as an ONNX model within %zu MiB of memory",
                    (((size_t)32 << 20) + 12 * n_bytes) >> 20);
    name_all(&unpacked->base);
    return ST_OK;
}
