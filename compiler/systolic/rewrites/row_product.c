/* row_product.c - let a product of one row with many rows read these as pixels. in: BATCH_MATMUL of
 * int8 with adj_b whose first operand's matrices are one row: a token's scores over a cache. out:
 * the operands exchanged, (A B')' = B A', whose result has the same bytes: ARRAY then takes a pixel
 * of N bytes a cycle, and WEIGHT transposes nothing. The cycle model decides. */
#include "compiler/legalise/new_ops.h"
#include "rewrites.h"

void sys_row_product(struct ir_graph *g, struct ir_op *op, const struct lgl_options *o)
{
    const struct ir_tensor *a = ir_in(g, op, 0), *b = ir_in(g, op, 1);
    struct ir_tensor *y = ir_out(g, op, 0);
    uint32_t in[2];

    if (a->type != IR_I8 || op->fixed.n_real != 0 || op->attr[IR_ADJ_B] == 0 ||
        op->attr[IR_ADJ_A] != 0 || ir_dim_back(a, 1) != 1 || a->role == IR_CONST ||
        b->role == IR_CONST || ir_dim_back(b, 1) <= (int32_t)o->array_rows || y->rank > 4)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        const struct ir_tensor *x = i ? a : b;
        struct ir_tensor *image =
            lgl_new_image(g, x, x->quant,
                          (const int32_t[]){ir_dim_back(x, 3), ir_dim_back(x, 2), ir_dim_back(x, 1),
                                            ir_dim_back(x, 0)});

        (void)lgl_new_reshape(g, op->row, x, image);
        in[i] = image->id;
    }
    struct ir_tensor *column = lgl_new_image(
        g, y, y->quant,
        (const int32_t[]){ir_dim_back(y, 3), ir_dim_back(y, 2), ir_dim_back(y, 0), 1});
    struct ir_op *product = lgl_make_batch_matmul(g, op->row, 2, in, column);

    product->attr[IR_ADJ_B] = 1;
    product->fixed = op->fixed;
    (void)lgl_new_reshape(g, op->row, column, y);
    op->dead = true;
}
