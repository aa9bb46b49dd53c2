/* newtarget.h - what heddle's emitted C calls; the arguments are those of "call" in target.json. */
#include <stddef.h>
#include <stdint.h>

/* x [batch, in_c], w [out_c, in_c], bias [out_c] or NULL, y [batch, out_c]. 0, or a negative enum
 * hd_error. */
int newtarget_dense(const int8_t *x, const int8_t *w, const int32_t *bias, int8_t *y, int32_t batch,
                    int32_t in_c, int32_t out_c, int32_t z_in, int32_t z_out, int32_t multiplier,
                    int32_t shift, int32_t act_min, int32_t act_max, int32_t unroll);
