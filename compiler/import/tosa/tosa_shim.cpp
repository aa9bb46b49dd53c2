// tosa_shim.cpp - verify a TOSA file and unpack it into the structs of tosa_shim.h.
// No exceptions, no global state, no owning objects: arena_alloc may leave by longjmp.
#include "tosa_shim.h"

#include <algorithm>
#include <cstring>

#include "compiler/import/common/fbs_fields.h"
#include "tosa_generated.h"

namespace
{

// The enums of tosa_shim.h are the schema's.
static_assert(int{tosa::Op_CONST_SHAPE} == int{TOSA_CONST_SHAPE} &&
              int{tosa::Op_GATHER} == int{TOSA_GATHER} &&
              int{tosa::Op_SELECT} == int{TOSA_SELECT} && int{tosa::DType_FP32} == int{TOSA_FP32});

using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

tosa_ints ints(const flatbuffers::Vector<int32_t> *v)
{
    return v != nullptr ? tosa_ints{v->size(), v->data()} : tosa_ints{0, nullptr};
}

// The tensors in the order of their names.
struct Names {
    const tosa_tensor *tensor;
    uint32_t *order;
    uint32_t n;
};

Names names_of(arena *a, tosa_file *f)
{
    const Names names = {f->tensor, alloc<uint32_t>(a, f->n_tensor), f->n_tensor};

    for (uint32_t i = 0; i < f->n_tensor; i++)
        names.order[i] = i;
    std::sort(names.order, names.order + names.n, [f](uint32_t x, uint32_t y) {
        return strcmp(f->tensor[x].name, f->tensor[y].name) < 0;
    });
    for (uint32_t i = 1; i < f->n_tensor; i++)
        if (strcmp(f->tensor[names.order[i - 1]].name, f->tensor[names.order[i]].name) == 0)
            f->twice = f->tensor[names.order[i]].name;
    return names;
}

const uint32_t *indices(arena *a, const Names &names, const Strings *v)
{
    uint32_t *const index = alloc<uint32_t>(a, count(v));

    for (uint32_t i = 0; i < count(v); i++) {
        const char *const name = text(v->Get(i));
        const uint32_t *const at = std::lower_bound(
            names.order, names.order + names.n, name, [&names](uint32_t x, const char *want) {
                return strcmp(names.tensor[x].name, want) < 0;
            });
        const bool found = at != names.order + names.n && strcmp(names.tensor[*at].name, name) == 0;
        index[i] = found ? *at : TOSA_NONE;
    }
    return index;
}

tosa_tensor tensor_of(const tosa::TosaTensor *t)
{
    tosa_tensor r = {};

    r.name = text(t->name());
    r.type = t->type();
    r.type_name = tosa::EnumNameDType(t->type()); // "" if unknown
    r.shape = ints(t->shape());
    r.n_bytes = count(t->data());
    r.data = r.n_bytes != 0 ? t->data()->data() : nullptr;
    r.variable = t->variable();
    r.unranked = t->is_unranked();
    r.outside = t->offset() > 1;
    return r;
}

tosa_tensor shape_of(arena *a, const tosa::TosaShape *s)
{
    tosa_tensor r = {};
    int32_t *const n = alloc<int32_t>(a, 1);

    r.name = text(s->name());
    r.type = TOSA_SHAPE;
    r.type_name = "SHAPE";
    r.n_bytes = count(s->data());
    r.data = r.n_bytes != 0 ? s->data()->data() : nullptr;
    *n = static_cast<int32_t>(r.n_bytes / 8);
    r.shape = {1, n};
    return r;
}

template <typename T> void window(const T *w, tosa_attributes *r)
{
    r->stride = ints(w->stride());
    r->pad = ints(w->pad());
}

void sums(const tosa::TosaOperator *op, tosa_attributes *r)
{
    const auto *conv = op->attribute_as_Conv2d();

    if (conv == nullptr)
        conv = op->attribute_as_DepthwiseConv2d();
    if (conv != nullptr) {
        window(conv, r);
        r->dilation = ints(conv->dilation());
        r->acc_type = conv->acc_type();
    } else if (const auto *average = op->attribute_as_AvgPool2d()) {
        window(average, r);
        r->kernel = ints(average->kernel());
        r->acc_type = average->acc_type();
    } else if (const auto *most = op->attribute_as_MaxPool2d()) {
        window(most, r);
        r->kernel = ints(most->kernel());
        r->nan_mode = most->nan_mode();
    } else if (const auto *transposed = op->attribute_as_TransposeConv2d()) {
        r->out_pad = ints(transposed->out_pad());
        r->stride = ints(transposed->stride());
        r->acc_type = transposed->acc_type();
    }
}

void axes(const tosa::TosaOperator *op, tosa_attributes *r)
{
    const uint8_t kind = op->attribute_type();

    if (kind == tosa::Attribute_ArgMax || kind == tosa::Attribute_ReduceMax ||
        kind == tosa::Attribute_ReduceMin) {
        const auto *at = static_cast<const tosa::ArgMaxAttribute *>(op->attribute());
        r->axis = at->axis();
        r->nan_mode = at->nan_mode();
    } else if (kind == tosa::Attribute_ReduceAll || kind == tosa::Attribute_ReduceAny ||
               kind == tosa::Attribute_ReduceProduct || kind == tosa::Attribute_ReduceSum ||
               kind == tosa::Attribute_Concat || kind == tosa::Attribute_Reverse) {
        r->axis = static_cast<const tosa::AxisAttribute *>(op->attribute())->axis();
    } else if (kind == tosa::Attribute_Maximum || kind == tosa::Attribute_Minimum) {
        r->nan_mode = static_cast<const tosa::NanAttribute *>(op->attribute())->nan_mode();
    }
}

void others(const tosa::TosaOperator *op, tosa_attributes *r)
{
    if (const auto *clamp = op->attribute_as_Clamp()) {
        r->n_low = count(clamp->min_val());
        r->n_high = count(clamp->max_val());
        r->low = r->n_low != 0 ? clamp->min_val()->data() : nullptr;
        r->high = r->n_high != 0 ? clamp->max_val()->data() : nullptr;
        r->nan_mode = clamp->nan_mode();
    } else if (const auto *shift = op->attribute_as_ArithmeticRightShift()) {
        r->round = shift->round();
    } else if (const auto *transpose = op->attribute_as_Transpose()) {
        r->perms = ints(transpose->perms());
    } else if (const auto *resize = op->attribute_as_Resize()) {
        r->mode = resize->mode();
    } else if (const auto *rescale = op->attribute_as_Rescale()) {
        r->scale32 = rescale->scale32();
        r->rounding = rescale->rounding_mode();
        r->per_channel = rescale->per_channel();
        r->in_unsigned = rescale->input_unsigned();
        r->out_unsigned = rescale->output_unsigned();
    }
}

tosa_operator operator_of(arena *a, const Names &names, const tosa::TosaOperator *op,
                          const uint8_t *end)
{
    tosa_operator r = {};

    r.code = op->op();
    r.name = tosa::EnumNameOp(op->op());
    if (r.name[0] == '\0')
        r.name = arena_printf(a, "operator %u", r.code);
    r.n_in = count(op->inputs());
    r.n_out = count(op->outputs());
    r.in = indices(a, names, op->inputs());
    r.out = indices(a, names, op->outputs());
    if (op->attribute() == nullptr)
        return r;
    sums(op, &r.a);
    axes(op, &r.a);
    others(op, &r.a);
    if (const uint32_t known = fbs_known_fields(tosa::AttributeTypeTable(), op->attribute_type()))
        r.a.unknown = fbs_unknown_field(op->attribute(), known, end);
    return r;
}

void block_of(arena *a, const tosa::TosaBasicBlock *b, const uint8_t *end, tosa_file *f)
{
    const uint32_t n_tensor = count(b->tensors());

    f->n_tensor = n_tensor + count(b->shapes());
    f->tensor = alloc<tosa_tensor>(a, f->n_tensor);
    for (uint32_t i = 0; i < f->n_tensor; i++)
        f->tensor[i] = i < n_tensor ? tensor_of(b->tensors()->Get(i))
                                    : shape_of(a, b->shapes()->Get(i - n_tensor));
    const Names names = names_of(a, f);
    f->n_operator = count(b->operators());
    f->op = alloc<tosa_operator>(a, f->n_operator);
    for (uint32_t i = 0; i < f->n_operator; i++)
        f->op[i] = operator_of(a, names, b->operators()->Get(i), end);
    f->n_in = count(b->inputs());
    f->n_out = count(b->outputs());
    f->in = indices(a, names, b->inputs());
    f->out = indices(a, names, b->outputs());
}

bool verified(const uint8_t *data, size_t n_bytes)
{
    flatbuffers::Verifier verifier(data, n_bytes, kMaxDepth, kMaxTables);

    return tosa::VerifyTosaGraphBuffer(verifier);
}

} // namespace

extern "C" enum status tosa_read(struct arena *a, const uint8_t *data, size_t n_bytes,
                                 struct tosa_file **file, struct diag *d)
{
    if (n_bytes < 8 || !tosa::TosaGraphBufferHasIdentifier(data))
        return diag_fail(d, ST_MODEL,
                         "not a TOSA file: expected the identifier 'TOSA' at byte 4 (%zu bytes "
                         "read)",
                         n_bytes);
    if (n_bytes >= FLATBUFFERS_MAX_BUFFER_SIZE)
        return diag_fail(d, ST_MODEL, "%zu bytes: expected less than 2 GiB", n_bytes);
    if (!verified(data, n_bytes))
        return diag_fail(d, ST_MODEL,
                         "damaged or truncated TOSA file: its tables exceed its %zu bytes",
                         n_bytes);

    const tosa::TosaGraph *const g = tosa::GetTosaGraph(data);
    tosa_file *const f = alloc<tosa_file>(a, 1);

    f->major = g->version()->_major();
    f->minor = g->version()->_minor();
    f->n_region = count(g->regions());
    f->n_block = f->n_region != 0 ? count(g->regions()->Get(0)->blocks()) : 0;
    if (f->n_region == 1 && f->n_block == 1)
        block_of(a, g->regions()->Get(0)->blocks()->Get(0), data + n_bytes, f);
    *file = f;
    return ST_OK;
}
