/* matvec.h - the one call that heddle's emitted C makes, once for each fully connected layer. */
#include "hd_port.h"

struct matvec_sizes {
    int32_t in, out, z_in, z_out, act_min, act_max, scales,
        beat; /* beat: bytes of the memory port */
};

/* x [in], w [out, in], bias [out] or NULL, multiplier and shift [scales], y [out]. scratch: 4 * out + in + beat bytes. With
 * dev NULL plain C computes the sums. 0, or an enum hd_error. */
int matvec(const struct hd_port *dev, const int8_t *x, const int8_t *w, const int32_t *bias,
           const int32_t *multiplier, const int8_t *shift, int8_t *y, struct matvec_sizes s,
           void *scratch);
