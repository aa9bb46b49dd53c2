// tfl_shim.cpp - verify a TFLite file and unpack it into the structs of tfl_shim.h.
// No exceptions, no global state, no owning objects: arena_alloc may leave by longjmp.
#include "tfl_shim.h"

#include <vector>

#include "compiler/import/common/fbs_fields.h"
#include "tflite_generated.h"

namespace
{

tfl_ints ints(const flatbuffers::Vector<int32_t> *v)
{
    return v != nullptr ? tfl_ints{v->size(), v->data()} : tfl_ints{0, nullptr};
}

tfl_opcode opcode_of(arena *a, const tfl::OperatorCode *c)
{
    const int32_t old_code = c->deprecated_builtin_code();
    const int32_t new_code = static_cast<int32_t>(c->builtin_code());
    const int32_t code = old_code > new_code ? old_code : new_code; // the format takes the larger
    const char *name = tfl::EnumNameBuiltinOperator(static_cast<tfl::BuiltinOperator>(code));

    if (code == static_cast<int32_t>(tfl::BuiltinOperator_CUSTOM))
        return {code, arena_printf(a, "CUSTOM %.80s", text(c->custom_code()))};
    if (name[0] == '\0')
        return {code, arena_printf(a, "BUILTIN_%d", code)};
    return {code, name};
}

template <typename T> tfl_numbers numbers(const flatbuffers::Vector<T> *v)
{
    return {count(v), sizeof(T), v != nullptr ? v->data() : nullptr};
}

tfl_numbers numbers_of(tfl::SparseIndexVector kind, const void *table)
{
    if (table == nullptr)
        return {0, 1, nullptr};
    switch (kind) {
    case tfl::SparseIndexVector_Int32Vector:
        return numbers(static_cast<const tfl::Int32Vector *>(table)->values());
    case tfl::SparseIndexVector_Uint16Vector:
        return numbers(static_cast<const tfl::Uint16Vector *>(table)->values());
    case tfl::SparseIndexVector_Uint8Vector:
        return numbers(static_cast<const tfl::Uint8Vector *>(table)->values());
    default: return {0, 1, nullptr};
    }
}

const tfl_sparsity *sparsity_of(arena *a, const tfl::SparsityParameters *s)
{
    tfl_sparsity *r;

    if (s == nullptr)
        return nullptr;
    r = alloc<tfl_sparsity>(a, 1);
    r->order = ints(s->traversal_order());
    r->block = ints(s->block_map());
    r->n_level = count(s->dim_metadata());
    r->level = alloc<tfl_level>(a, r->n_level);
    for (uint32_t i = 0; i < r->n_level; i++) {
        const tfl::DimensionMetadata *m = s->dim_metadata()->Get(i);

        r->level[i] = {m->format() == tfl::DimensionType_SPARSE_CSR, m->dense_size(),
                       numbers_of(m->array_segments_type(), m->array_segments()),
                       numbers_of(m->array_indices_type(), m->array_indices())};
    }
    return r;
}

tfl_tensor tensor_of(arena *a, const tfl::Tensor *t)
{
    const tfl::QuantizationParameters *q = t->quantization();
    tfl_tensor r = {};

    r.name = text(t->name());
    r.type = t->type();
    r.type_name = tfl::EnumNameTensorType(t->type()); // "" if unknown
    r.shape = ints(t->shape());
    r.signature = ints(t->shape_signature());
    r.buffer = t->buffer();
    r.is_variable = t->is_variable();
    r.sparsity = sparsity_of(a, t->sparsity());
    if (q == nullptr)
        return r;
    r.has_details = q->details_type() != tfl::QuantizationDetails_NONE;
    r.n_scale = count(q->scale());
    r.scale = r.n_scale != 0 ? q->scale()->data() : nullptr;
    r.n_zero_point = count(q->zero_point());
    r.zero_point = r.n_zero_point != 0 ? q->zero_point()->data() : nullptr;
    r.axis = q->quantized_dimension();
    return r;
}

void window_options(const tfl::Operator *op, tfl_options *r)
{
    if (const auto *o = op->options_as_Conv2DOptions()) {
        r->padding = o->padding();
        r->stride_h = o->stride_h();
        r->stride_w = o->stride_w();
        r->dilation_h = o->dilation_h();
        r->dilation_w = o->dilation_w();
        r->activation = o->activation();
        r->bias_type = o->quantized_bias_type();
    } else if (const auto *dw = op->options_as_DepthwiseConv2DOptions()) {
        r->padding = dw->padding();
        r->stride_h = dw->stride_h();
        r->stride_w = dw->stride_w();
        r->dilation_h = dw->dilation_h();
        r->dilation_w = dw->dilation_w();
        r->activation = dw->activation();
    } else if (const auto *p = op->options_as_Pool2DOptions()) {
        r->padding = p->padding();
        r->stride_h = p->stride_h();
        r->stride_w = p->stride_w();
        r->filter_h = p->filter_h();
        r->filter_w = p->filter_w();
        r->activation = p->activation();
    }
}

void other_options(const tfl::Operator *op, tfl_options *r)
{
    if (const auto *fc = op->options_as_FullyConnectedOptions()) {
        r->activation = fc->activation();
        r->weights_format = fc->weights_format();
        r->asymmetric = fc->asymmetric_quantize_inputs();
        r->bias_type = fc->quantized_bias_type();
    } else if (const auto *softmax = op->options_as_SoftmaxOptions()) {
        r->beta = softmax->beta();
    } else if (const auto *concat = op->options_as_ConcatenationOptions()) {
        r->axis = concat->axis();
        r->activation = concat->activation();
    } else if (const auto *add = op->options_as_AddOptions()) {
        r->activation = add->activation();
        r->pot_scale = add->pot_scale_int16();
    } else if (const auto *sub = op->options_as_SubOptions()) {
        r->activation = sub->activation();
        r->pot_scale = sub->pot_scale_int16();
    } else if (const auto *mul = op->options_as_MulOptions()) {
        r->activation = mul->activation();
    } else if (const auto *reshape = op->options_as_ReshapeOptions()) {
        r->new_shape = ints(reshape->new_shape());
    } else if (const auto *squeeze = op->options_as_SqueezeOptions()) {
        r->squeezed = ints(squeeze->squeeze_dims());
    } else if (const auto *reducer = op->options_as_ReducerOptions()) {
        r->keep_dims = reducer->keep_dims();
    } else if (const auto *leaky = op->options_as_LeakyReluOptions()) {
        r->alpha = leaky->alpha();
    }
}

void shape_options(const tfl::Operator *op, tfl_options *r)
{
    if (const auto *s2d = op->options_as_SpaceToDepthOptions()) {
        r->block = s2d->block_size();
    } else if (const auto *d2s = op->options_as_DepthToSpaceOptions()) {
        r->block = d2s->block_size();
    } else if (const auto *split = op->options_as_SplitOptions()) {
        r->number = split->num_splits();
    } else if (const auto *split_v = op->options_as_SplitVOptions()) {
        r->number = split_v->num_splits();
    } else if (const auto *pack = op->options_as_PackOptions()) {
        r->number = pack->values_count();
        r->axis = pack->axis();
    } else if (const auto *unpack = op->options_as_UnpackOptions()) {
        r->number = unpack->num();
        r->axis = unpack->axis();
    } else if (const auto *gather = op->options_as_GatherOptions()) {
        r->axis = gather->axis();
        r->batch_dims = gather->batch_dims();
    } else if (const auto *one_hot = op->options_as_OneHotOptions()) {
        r->axis = one_hot->axis();
    } else if (const auto *cumsum = op->options_as_CumsumOptions()) {
        r->exclusive = cumsum->exclusive();
        r->reverse = cumsum->reverse();
    } else if (const auto *sequence = op->options_as_ReverseSequenceOptions()) {
        r->axis = sequence->seq_dim();
        r->batch_dims = sequence->batch_dim();
    } else if (const auto *mirror = op->options_as_MirrorPadOptions()) {
        r->mode = mirror->mode();
    } else if (const auto *slice = op->options_as_StridedSliceOptions()) {
        r->begin_mask = slice->begin_mask();
        r->end_mask = slice->end_mask();
        r->ellipsis_mask = slice->ellipsis_mask();
        r->new_axis_mask = slice->new_axis_mask();
        r->shrink_axis_mask = slice->shrink_axis_mask();
        r->offset = slice->offset();
    }
}

void late_options(const tfl::Operator *op, tfl_options *r)
{
    if (const auto *bilinear = op->options_as_ResizeBilinearOptions()) {
        r->align_corners = bilinear->align_corners();
        r->half_pixel_centers = bilinear->half_pixel_centers();
    } else if (const auto *nearest = op->options_as_ResizeNearestNeighborOptions()) {
        r->align_corners = nearest->align_corners();
        r->half_pixel_centers = nearest->half_pixel_centers();
    } else if (const auto *conv = op->options_as_TransposeConvOptions()) {
        r->padding = conv->padding();
        r->stride_h = conv->stride_h();
        r->stride_w = conv->stride_w();
        r->activation = conv->activation();
        r->bias_type = conv->quantized_bias_type();
    } else if (const auto *volume = op->options_as_Conv3DOptions()) {
        r->padding = volume->padding();
        r->stride_d = volume->stride_d();
        r->stride_h = volume->stride_h();
        r->stride_w = volume->stride_w();
        r->dilation_d = volume->dilation_d();
        r->dilation_h = volume->dilation_h();
        r->dilation_w = volume->dilation_w();
        r->activation = volume->activation();
    } else if (const auto *matmul = op->options_as_BatchMatMulOptions()) {
        r->adjoint_x = matmul->adj_x();
        r->asymmetric = matmul->asymmetric_quantize_inputs();
        r->adjoint_y = matmul->adj_y();
    } else if (const auto *gelu = op->options_as_GeluOptions()) {
        r->approximate = gelu->approximate();
    } else if (const auto *div = op->options_as_DivOptions()) {
        r->activation = div->activation();
    } else if (const auto *norm = op->options_as_L2NormOptions()) {
        r->activation = norm->activation();
    } else if (const auto *handle = op->options_as_VarHandleOptions()) {
        r->container = text(handle->container());
        r->shared_name = text(handle->shared_name());
    } else if (const auto *lstm = op->options_as_UnidirectionalSequenceLSTMOptions()) {
        r->activation = lstm->activation();
        r->cell_clip = lstm->cell_clip();
        r->time_major = lstm->time_major();
        r->diagonal = lstm->diagonal_recurrent_tensors();
    } else if (const auto *svdf = op->options_as_SVDFOptions()) {
        r->number = svdf->rank();
        r->activation = svdf->activation();
    } else if (const auto *once = op->options_as_CallOnceOptions()) {
        r->first = once->init_subgraph_index();
    } else if (const auto *branch = op->options_as_IfOptions()) {
        r->first = branch->then_subgraph_index();
        r->second = branch->else_subgraph_index();
    } else if (const auto *loop = op->options_as_WhileOptions()) {
        r->first = loop->cond_subgraph_index();
        r->second = loop->body_subgraph_index();
    } else if (const auto *composite = op->options_2_as_StableHLOCompositeOptions()) {
        r->first = composite->decomposition_subgraph_index();
    }
}

// Return a whole number: truncate a float, or return 0 if it exceeds int64.
int64_t whole_of(const flexbuffers::Reference &value)
{
    const double real = value.AsDouble();

    return value.IsIntOrUint()           ? value.AsInt64()
           : real > -9e18 && real < 9e18 ? static_cast<int64_t>(real)
                                         : 0;
}

// Read the options; a key missing from the map reads as 0.
tfl_detection detection_of(const flatbuffers::Vector<uint8_t> *options)
{
    tfl_detection r = {};
    std::vector<uint8_t> visited;

    if (options == nullptr || options->size() < 3 ||
        !flexbuffers::VerifyBuffer(options->data(), options->size(), &visited))
        return r;
    const auto root = flexbuffers::GetRoot(options->data(), options->size());
    if (!root.IsMap())
        return r;
    const auto map = root.AsMap();
    const auto use_regular = map["use_regular_nms"];
    r.present = true;
    r.regular = use_regular.IsBool() ? use_regular.AsBool() : whole_of(use_regular) != 0;
    r.max_detections = whole_of(map["max_detections"]);
    r.max_classes = whole_of(map["max_classes_per_detection"]);
    r.n_classes = whole_of(map["num_classes"]);
    r.score_threshold = map["nms_score_threshold"].AsFloat();
    r.iou_threshold = map["nms_iou_threshold"].AsFloat();
    r.y_scale = map["y_scale"].AsFloat();
    r.x_scale = map["x_scale"].AsFloat();
    r.h_scale = map["h_scale"].AsFloat();
    r.w_scale = map["w_scale"].AsFloat();
    return r;
}

/* The names in operators.def are the schema's. */
#define TFLITE(builtin, options, ...)                                                              \
    static_assert(tfl::BuiltinOperator_##builtin <= tfl::BuiltinOperator_MAX &&                    \
                  tfl::BuiltinOptions_##options <= tfl::BuiltinOptions_MAX);
#include "operators/operators.def"

tfl_operator operator_of(const tfl::Operator *op, const uint8_t *end)
{
    tfl_operator r = {};

    r.opcode_index = op->opcode_index();
    r.in = ints(op->inputs());
    r.out = ints(op->outputs());
    r.intermediate = ints(op->intermediates());
    r.options.container = r.options.shared_name = "";
    r.options.kind = tfl::EnumNameBuiltinOptions(op->options_type());
    r.options.present = op->options() != nullptr;
    r.options.detection = detection_of(op->custom_options());
    if (op->options_2_as_StableHLOCompositeOptions() != nullptr) {
        r.options.present = true;
        r.options.kind = "StableHLOCompositeOptions";
    }
    if (r.options.present) {
        window_options(op, &r.options);
        other_options(op, &r.options);
        shape_options(op, &r.options);
        late_options(op, &r.options);
        if (op->options() != nullptr && r.options.kind[0] != '\0' &&
            op->options_type() != tfl::BuiltinOptions_NONE)
            r.options.unknown = fbs_unknown_field(
                op->options(), fbs_known_fields(tfl::BuiltinOptionsTypeTable(), op->options_type()),
                end);
    }
    return r;
}

// Bytes in the FlatBuffer, or after it at an offset from the file's begin.
tfl_buffer buffer_of(const tfl::Buffer *b, const uint8_t *file, const uint8_t *end)
{
    const uint32_t n = count(b->data());
    const auto size = static_cast<uint64_t>(end - file);

    if (b->offset() <= 1) // writers use offset 1 as a placeholder for "none"
        return {n != 0 ? b->data()->data() : nullptr, n, false};
    if (b->offset() > size || b->size() > size - b->offset())
        return {nullptr, 0, true};
    return {b->size() != 0 ? file + b->offset() : nullptr, static_cast<size_t>(b->size()), false};
}

tfl_subgraph subgraph_of(arena *a, const tfl::SubGraph *g, const uint8_t *end)
{
    tfl_subgraph r = {};

    r.n_tensor = count(g->tensors());
    r.tensor = alloc<tfl_tensor>(a, r.n_tensor);
    for (uint32_t i = 0; i < r.n_tensor; i++)
        r.tensor[i] = tensor_of(a, g->tensors()->Get(i));
    r.in = ints(g->inputs());
    r.out = ints(g->outputs());
    r.n_operator = count(g->operators());
    r.op = alloc<tfl_operator>(a, r.n_operator);
    for (uint32_t i = 0; i < r.n_operator; i++)
        r.op[i] = operator_of(g->operators()->Get(i), end);
    return r;
}

void subgraphs_of(arena *a, const tfl::Model *m, const uint8_t *end, tfl_file *f)
{
    const tfl_subgraph first = subgraph_of(a, m->subgraphs()->Get(0), end);

    f->n_tensor = first.n_tensor;
    f->tensor = first.tensor;
    f->n_operator = first.n_operator;
    f->op = first.op;
    f->in = first.in;
    f->out = first.out;
    f->more = alloc<tfl_subgraph>(a, f->n_subgraph);
    for (uint32_t i = 1; i < f->n_subgraph; i++)
        f->more[i - 1] = subgraph_of(a, m->subgraphs()->Get(i), end);
}

tfl_file *file_of(arena *a, const tfl::Model *m, const uint8_t *begin, const uint8_t *end)
{
    tfl_file *f = alloc<tfl_file>(a, 1);

    f->version = m->version();
    f->n_subgraph = count(m->subgraphs());
    f->n_opcode = count(m->operator_codes());
    f->opcode = alloc<tfl_opcode>(a, f->n_opcode);
    for (uint32_t i = 0; i < f->n_opcode; i++)
        f->opcode[i] = opcode_of(a, m->operator_codes()->Get(i));
    f->n_signature = count(m->signature_defs());
    f->signature = alloc<tfl_signature>(a, f->n_signature);
    for (uint32_t i = 0; i < f->n_signature; i++)
        f->signature[i] = {text(m->signature_defs()->Get(i)->signature_key()),
                           m->signature_defs()->Get(i)->subgraph_index()};
    f->n_buffer = count(m->buffers());
    f->buffer = alloc<tfl_buffer>(a, f->n_buffer);
    for (uint32_t i = 0; i < f->n_buffer; i++)
        f->buffer[i] = buffer_of(m->buffers()->Get(i), begin, end);
    if (f->n_subgraph != 0)
        subgraphs_of(a, m, end, f);
    return f;
}

bool verified(const uint8_t *data, size_t n_bytes)
{
    flatbuffers::Verifier verifier(data, n_bytes, kMaxDepth, kMaxTables);

    return tfl::VerifyModelBuffer(verifier);
}

// The buffer of the model's metadata of that name; nullptr: none.
const tfl::Buffer *metadata_of(const tfl::Model *m, const char *name)
{
    for (uint32_t i = 0; i < count(m->metadata()); i++) {
        const tfl::Metadata *one = m->metadata()->Get(i);

        if (one->name() != nullptr && one->name()->str() == name &&
            one->buffer() < count(m->buffers()))
            return m->buffers()->Get(one->buffer());
    }
    return nullptr;
}

// The first file of labels of the first output.
const tfl::AssociatedFile *labels_of(const tfl::ModelMetadata *m)
{
    if (count(m->subgraph_metadata()) == 0)
        return nullptr;
    const auto *outputs = m->subgraph_metadata()->Get(0)->output_tensor_metadata();
    if (count(outputs) == 0)
        return nullptr;
    const auto *files = outputs->Get(0)->associated_files();
    for (uint32_t i = 0; i < count(files); i++)
        if (files->Get(i)->type() == tfl::AssociatedFileType_TENSOR_AXIS_LABELS)
            return files->Get(i);
    return nullptr;
}

} // namespace

extern "C" enum status tfl_read_labels(struct arena *a, const uint8_t *data, const char **name,
                                       struct diag *d)
{
    const tfl::Buffer *b = metadata_of(tfl::GetModel(data), "TFLITE_METADATA");
    const uint32_t n = b != nullptr ? count(b->data()) : 0;

    *name = nullptr;
    if (n == 0)
        return ST_OK;
    // its scalars are aligned only if the buffer is
    const auto *copy = static_cast<const uint8_t *>(arena_memdup(a, b->data()->data(), n));
    flatbuffers::Verifier verifier(copy, n, kMaxDepth, kMaxTables);
    if (n < 8 || !verifier.VerifyBuffer<tfl::ModelMetadata>("M001"))
        return diag_fail(d, ST_MODEL, "metadata: damaged, or not of kind 'M001' (%u bytes)", n);
    const tfl::AssociatedFile *file = labels_of(flatbuffers::GetRoot<tfl::ModelMetadata>(copy));
    *name = file != nullptr ? text(file->name()) : nullptr;
    return ST_OK;
}

extern "C" enum status tfl_read(struct arena *a, const uint8_t *data, size_t n_bytes,
                                struct tfl_file **file, struct diag *d)
{
    if (n_bytes == 0)
        return diag_fail(d, ST_MODEL, "the file is empty: expected a TFLite model");
    if (n_bytes < 8 || !tfl::ModelBufferHasIdentifier(data))
        return diag_fail(d, ST_MODEL,
                         "not a TFLite file: expected the identifier 'TFL3' at byte 4 (%zu bytes "
                         "read)",
                         n_bytes);
    if (n_bytes >= FLATBUFFERS_MAX_BUFFER_SIZE)
        return diag_fail(d, ST_MODEL, "%zu bytes: expected less than 2 GiB", n_bytes);
    if (!verified(data, n_bytes))
        return diag_fail(d, ST_MODEL,
                         "damaged or truncated TFLite file: its tables exceed its %zu bytes%s",
                         n_bytes, n_bytes / 8 > kMaxTables ? ", or are more than 4000000" : "");
    *file = file_of(a, tfl::GetModel(data), data, data + n_bytes);
    return ST_OK;
}
