/* onnx_norms.c - normalisations of several dimensions and of several images as those of one: the accelerator has these
 * (docs/ONNX.md, rule 9). Texts of onnx_expand.c. */
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <string.h>

/* Add "NAME = Reshape($i, [size])" for input `i`, or NAME without a value if it is absent. */
static const char *flat(struct ox *m, struct text *t, uint32_t i, int64_t size)
{
    if (!ox_in(m, i))
        return "";
    text_printf(t, "v%u = Reshape($%u, [%lld]);", i, i, (long long)size);
    return arena_printf(m->arena, ", v%u", i);
}

static enum status finish(struct ox *m, struct text *t)
{
    const struct ox_value *x = ox_in(m, 0);
    struct ox_shape s = {.rank = ox_rank(m, x)};
    const char *y;

    memcpy(s.dim, ox_dim(m, x), sizeof s.dim);
    y = ox_quantise_inside(m, t, "n");
    text_printf(t, "%%0 = Reshape(%s, %s)", y, ox_shape_list(m, &s));
    return ox_expand(m, t->data);
}

/* Normalise the dimensions from `axis` on as one, which scale and bias have as well. */
enum status ox_layer_rows(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0), *scale = ox_in(m, 1), *bias = ox_in(m, 2);
    int64_t size = 1, rows = 1;
    uint32_t axis, rank;
    struct text t;

    if (!x || !scale || m->options->exact || m->node->n_output > 1)
        return ox_layer_norm(m);
    rank = ox_rank(m, x);
    TRY(ox_axis(m, "axis", ox_attr_int(m, "axis", -1), rank, &axis));
    for (uint32_t i = 0; i < rank; i++)
        *(i < axis ? &rows : &size) *= ox_dim(m, x)[i];
    if (axis + 1 == rank || scale->kind != OX_CONST || scale->c.n != (uint64_t)size ||
        (bias && (bias->kind != OX_CONST || bias->c.n != (uint64_t)size)))
        return ox_layer_norm(m);
    text_init(&t, m->arena);
    text_printf(&t, "x = Reshape($0, [%lld,%lld]);", (long long)rows, (long long)size);
    const char *scales = flat(m, &t, 1, size), *biases = flat(m, &t, 2, size);

    text_printf(&t, "n = LayerNormalization(x%s%s; axis=-1, epsilon=@epsilon|1e-5f);", scales,
                biases);
    return finish(m, &t);
}

/* Make the images' channels those of one image, a volume's depths and rows its rows. `groups`: of each image, 0 for
 * InstanceNormalization. */
static enum status as_one_image(struct ox *m, int64_t groups)
{
    const struct ox_value *x = ox_in(m, 0);
    const int32_t *dim = ox_dim(m, x);
    const int64_t each = groups && m->opset < 21 ? groups : dim[1];
    struct ox_shape s = {.rank = ox_rank(m, x)};
    struct text t;

    memcpy(s.dim, dim, sizeof s.dim);
    s.dim[1] *= s.dim[0];
    s.dim[0] = 1;
    for (; s.rank > 4; s.rank--)
        s.dim[s.rank - 2] *= s.dim[s.rank - 1];
    text_init(&t, m->arena);
    text_printf(&t, "x = Reshape($0, %s); a = Reshape($1, [%lld]); b = Reshape($2, [%lld]);",
                ox_shape_list(m, &s), (long long)each, (long long)each);
    if (each != dim[1])
        text_printf(&t,
                    "a1 = Reshape(a, [-1,1]); a2 = Tile(a1, [1,%lld]); a3 = Reshape(a2, [-1]);"
                    "b1 = Reshape(b, [-1,1]); b2 = Tile(b1, [1,%lld]); b3 = Reshape(b2, [-1]);",
                    (long long)(dim[1] / each), (long long)(dim[1] / each));
    else
        text_add(&t, "a3 = Identity(a); b3 = Identity(b);");
    if (dim[0] > 1)
        text_printf(&t, "a4 = Tile(a3, [%d]); b4 = Tile(b3, [%d]);", dim[0], dim[0]);
    else
        text_add(&t, "a4 = Identity(a3); b4 = Identity(b3);");
    if (groups)
        text_printf(&t,
                    "n = GroupNormalization(x, a4, b4; num_groups=%lld, epsilon=@epsilon|1e-5f);",
                    (long long)(groups * dim[0]));
    else
        text_add(&t, "n = InstanceNormalization(x, a4, b4; epsilon=@epsilon|1e-5f);");
    return finish(m, &t);
}

/* Return true if there are several images or a volume, and scale and bias are constants of `each` numbers. */
static bool has_images(struct ox *m, int64_t each)
{
    const struct ox_value *x = ox_in(m, 0);

    return x && !m->options->exact && ox_rank(m, x) > 2 &&
           (ox_dim(m, x)[0] > 1 || ox_rank(m, x) > 4) && ox_in(m, 1) && ox_in(m, 2) &&
           ox_in(m, 1)->kind == OX_CONST && ox_in(m, 2)->kind == OX_CONST &&
           ox_in(m, 1)->c.n == (uint64_t)each && ox_in(m, 2)->c.n == (uint64_t)each;
}

enum status ox_instance_images(struct ox *m)
{
    const struct ox_value *x = ox_in(m, 0);

    return x && ox_rank(m, x) > 1 && has_images(m, ox_dim(m, x)[1]) ? as_one_image(m, 0)
                                                                    : ox_instance_norm(m);
}

enum status ox_group_images(struct ox *m)
{
    const int64_t groups = ox_attr_int(m, "num_groups", 0);
    const struct ox_value *x = ox_in(m, 0);

    return x && groups > 0 && ox_rank(m, x) > 2 && ox_dim(m, x)[1] % groups == 0 &&
                   has_images(m, m->opset < 21 ? groups : ox_dim(m, x)[1])
               ? as_one_image(m, groups)
               : ox_group_norm(m);
}
