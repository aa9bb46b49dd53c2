/* onnxruntime.c - see onnxruntime.h. Functions of the library are entries of one table; their
 * numbers are its binary interface, to which a release only adds. */
#include "onnxruntime.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the table's functions. */
enum {
    GET_ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION_FROM_ARRAY = 8,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    SET_SESSION_GRAPH_OPTIMIZATION_LEVEL = 23,
    SET_INTRA_OP_NUM_THREADS = 24,
    SESSION_GET_INPUT_TYPE_INFO = 33,
    SESSION_GET_OUTPUT_TYPE_INFO = 34,
    CREATE_TENSOR_WITH_DATA_AS_ORT_VALUE = 49,
    GET_TENSOR_MUTABLE_DATA = 51,
    CAST_TYPE_INFO_TO_TENSOR_INFO = 55,
    GET_TENSOR_ELEMENT_TYPE = 60,
    GET_DIMENSIONS_COUNT = 61,
    GET_DIMENSIONS = 62,
    GET_TENSOR_TYPE_AND_SHAPE = 65,
    CREATE_CPU_MEMORY_INFO = 69,
    RELEASE_ENV = 92,
    RELEASE_STATUS = 93,
    RELEASE_MEMORY_INFO = 94,
    RELEASE_SESSION = 95,
    RELEASE_VALUE = 96,
    RELEASE_TYPE_INFO = 98,
    RELEASE_TENSOR_TYPE_AND_SHAPE_INFO = 99,
    RELEASE_SESSION_OPTIONS = 100
};

enum { API_VERSION = 10, LOG_FATAL = 4, ARENA_ALLOCATOR = 1, MEMORY_DEFAULT = 0 };

struct api_base {
    const void *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

/* One function of the table, whatever its type; the call casts it. */
typedef void function(void);
typedef void *status;

struct ort {
    function *const *of;
    void *env, *options, *session, *memory;
};

static _Thread_local char message[1024];

#define CALL(o, number, types, ...) (((status(*) types)(o)->of[number])(__VA_ARGS__))
#define RELEASE(o, number, object)  (((void (*)(void *))(o)->of[number])(object))

/* Keep the status' message and release it; NULL for success. */
static const char *failed(const struct ort *o, status s)
{
    if (!s)
        return NULL;
    snprintf(message, sizeof message, "%s",
             ((const char *(*)(const void *))o->of[GET_ERROR_MESSAGE])(s));
    RELEASE(o, RELEASE_STATUS, s);
    for (char *c = message; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    return message;
}

static const char *find(struct ort *o)
{
    const char *path = getenv("HEDDLE_ONNXRUNTIME");
    void *library = dlopen(path ? path : "libonnxruntime.so", RTLD_NOW | RTLD_LOCAL);
    struct api_base *(*base)(void) = NULL;

    if (!library) {
        snprintf(message, sizeof message,
                 "the library was not found (%s): install it (pip install onnxruntime) and set "
                 "HEDDLE_ONNXRUNTIME to its file, .../site-packages/onnxruntime/capi/"
                 "libonnxruntime.so.VERSION",
                 dlerror());
        return message;
    }
    *(void **)&base = dlsym(library, "OrtGetApiBase");
    o->of = base ? base()->get_api(API_VERSION) : NULL;
    if (o->of)
        return NULL;
    snprintf(message, sizeof message, "%s: expected ONNX Runtime 1.10 or later, found %s",
             path ? path : "libonnxruntime.so",
             base ? base()->get_version() : "no function OrtGetApiBase");
    return message;
}

static const char *start(struct ort *o, const void *model, size_t n)
{
    const char *why =
        failed(o, CALL(o, CREATE_ENV, (int, const char *, void **), LOG_FATAL, "heddle", &o->env));

    if (!why)
        why = failed(o, CALL(o, CREATE_SESSION_OPTIONS, (void **), &o->options));
    if (!why)
        why =
            failed(o, CALL(o, SET_SESSION_GRAPH_OPTIMIZATION_LEVEL, (void *, int), o->options, 0));
    if (!why)
        why = failed(o, CALL(o, SET_INTRA_OP_NUM_THREADS, (void *, int), o->options, 1));
    if (!why)
        why = failed(o, CALL(o, CREATE_CPU_MEMORY_INFO, (int, int, void **), ARENA_ALLOCATOR,
                             MEMORY_DEFAULT, &o->memory));
    if (!why)
        why = failed(o, CALL(o, CREATE_SESSION_FROM_ARRAY,
                             (void *, const void *, size_t, void *, void **), o->env, model, n,
                             o->options, &o->session));
    return why;
}

static void stop(struct ort *o)
{
    if (o->session)
        RELEASE(o, RELEASE_SESSION, o->session);
    if (o->memory)
        RELEASE(o, RELEASE_MEMORY_INFO, o->memory);
    if (o->options)
        RELEASE(o, RELEASE_SESSION_OPTIONS, o->options);
    if (o->env)
        RELEASE(o, RELEASE_ENV, o->env);
}

static const char *open_model(struct ort *o, const void *model, size_t n)
{
    const char *why = find(o);

    if (!why)
        why = start(o, model, n);
    return why;
}

/* Read type and shape of what OrtTensorTypeAndShapeInfo `info` describes. */
static const char *read_shape(const struct ort *o, void *info, struct ort_output *y)
{
    size_t rank = 0;
    int type = 0;
    const char *why = failed(o, CALL(o, GET_TENSOR_ELEMENT_TYPE, (void *, int *), info, &type));

    if (!why)
        why = failed(o, CALL(o, GET_DIMENSIONS_COUNT, (void *, size_t *), info, &rank));
    if (!why && rank > ORT_MAX_RANK)
        return "expected at most 8 dimensions";
    y->type = type;
    y->rank = (uint32_t)rank;
    return why ? why
               : failed(o,
                        CALL(o, GET_DIMENSIONS, (void *, int64_t *, size_t), info, y->dim, rank));
}

/* Type and shape of input or output `i` of the session. */
static const char *declared(const struct ort *o, int which, size_t i, struct ort_output *y)
{
    void *type = NULL, *info = NULL; /* info is a part of type */
    const char *why = failed(o, CALL(o, which, (void *, size_t, void **), o->session, i, &type));

    if (!why)
        why = failed(o, CALL(o, CAST_TYPE_INFO_TO_TENSOR_INFO, (void *, void **), type, &info));
    if (!why)
        why = info ? read_shape(o, info, y) : "expected a tensor, found a sequence or map";
    if (type)
        RELEASE(o, RELEASE_TYPE_INFO, type);
    return why;
}

/* Bytes of an element of a type that an operator's model has at its border. */
static size_t type_bytes(int32_t type)
{
    return type == 9 ? 1 : type == 7 ? 8 : 4; /* bool; int64; float and int32 */
}

static size_t bytes_of(const struct ort_output *t)
{
    size_t n = type_bytes(t->type);

    for (uint32_t i = 0; i < t->rank; i++)
        n *= (size_t)t->dim[i];
    return n;
}

const char *ort_output_of(const void *model, size_t n_bytes, struct ort_output *y)
{
    struct ort o = {0};
    const char *why = open_model(&o, model, n_bytes);

    if (!why)
        why = declared(&o, SESSION_GET_OUTPUT_TYPE_INFO, 0, y);
    if (o.of)
        stop(&o);
    return why;
}

/* Input `i` of the session as a tensor over the bytes at `x`. */
static const char *input(const struct ort *o, size_t i, const void *x, void **value)
{
    struct ort_output s;
    const char *why = declared(o, SESSION_GET_INPUT_TYPE_INFO, i, &s);

    return why ? why
               : failed(o,
                        CALL(o, CREATE_TENSOR_WITH_DATA_AS_ORT_VALUE,
                             (void *, const void *, size_t, const int64_t *, size_t, int, void **),
                             o->memory, x, bytes_of(&s), s.dim, s.rank, s.type, value));
}

/* Copy the result, whose size may differ from what the model declares. */
static const char *copy_result(const struct ort *o, void *value, void *y, size_t y_bytes)
{
    struct ort_output s;
    void *info = NULL, *data = NULL;
    const char *why =
        failed(o, CALL(o, GET_TENSOR_TYPE_AND_SHAPE, (void *, void **), value, &info));

    if (!why)
        why = read_shape(o, info, &s);
    if (info)
        RELEASE(o, RELEASE_TENSOR_TYPE_AND_SHAPE_INFO, info);
    if (!why && bytes_of(&s) != y_bytes) {
        snprintf(message, sizeof message, "the result: expected %zu bytes, found %zu", y_bytes,
                 bytes_of(&s));
        return message;
    }
    if (!why)
        why = failed(o, CALL(o, GET_TENSOR_MUTABLE_DATA, (void *, void **), value, &data));
    if (!why)
        memcpy(y, data, y_bytes);
    return why;
}

static const char *run(const struct ort *o, uint32_t n, const void *const *x, void *y,
                       size_t y_bytes)
{
    static const char *const out = "y";
    char text[ORT_MAX_INPUTS][12];
    const char *name[ORT_MAX_INPUTS], *why = NULL;
    void *value[ORT_MAX_INPUTS] = {0}, *result = NULL;

    for (uint32_t i = 0; !why && i < n; i++) {
        snprintf(text[i], sizeof text[i], "x%u", i);
        name[i] = text[i];
        why = input(o, i, x[i], &value[i]);
    }
    if (!why)
        why = failed(o, CALL(o, RUN,
                             (void *, void *, const char *const *, void *const *, size_t,
                              const char *const *, size_t, void **),
                             o->session, NULL, name, value, n, &out, 1, &result));
    if (!why)
        why = copy_result(o, result, y, y_bytes);
    if (result)
        RELEASE(o, RELEASE_VALUE, result);
    for (uint32_t i = 0; i < n && value[i]; i++)
        RELEASE(o, RELEASE_VALUE, value[i]);
    return why;
}

const char *ort_run(const void *model, size_t n_bytes, uint32_t n_in, const void *const *x, void *y,
                    size_t y_bytes)
{
    struct ort o = {0};
    const char *why =
        n_in > ORT_MAX_INPUTS ? "expected at most 64 inputs" : open_model(&o, model, n_bytes);

    if (!why)
        why = run(&o, n_in, x, y, y_bytes);
    if (o.of)
        stop(&o);
    return why;
}
