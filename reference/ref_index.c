/* ref_index.c - offsets of elements in tensors that are broadcast or reduced. */
#include "ref_kernels.h"

size_t ref_matrix(const struct ir_tensor *t, const struct ir_tensor *y, size_t batch)
{
    size_t at = 0, size = (size_t)ir_dim_back(t, 0) * (size_t)ir_dim_back(t, 1);

    for (uint32_t i = 2; i < y->rank; i++) {
        const size_t n = (size_t)ir_dim_back(t, i), k = batch % (size_t)ir_dim_back(y, i);

        at += (n == 1 ? 0 : k) * size;
        size *= n;
        batch /= (size_t)ir_dim_back(y, i);
    }
    return at;
}

size_t ref_broadcast_at(const struct ir_tensor *t, const struct ir_tensor *y, size_t i)
{
    size_t stride = 1, offset = 0;

    for (uint32_t back = 0; back < y->rank; back++) {
        const size_t n = (size_t)ir_dim_back(t, back), k = i % (size_t)ir_dim_back(y, back);

        if (n > 1)
            offset += k * stride;
        stride *= n;
        i /= (size_t)ir_dim_back(y, back);
    }
    return offset;
}

size_t ref_pick(const struct ir_tensor *x, uint32_t mask, size_t i)
{
    size_t offset = 0, stride = 1;

    for (uint32_t k = x->rank; k-- > 0;) {
        if ((mask >> k & 1) != 0) {
            offset += i % (size_t)x->dim[k] * stride;
            i /= (size_t)x->dim[k];
        }
        stride *= (size_t)x->dim[k];
    }
    return offset;
}
