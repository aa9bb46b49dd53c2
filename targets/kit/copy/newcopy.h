/* newcopy.h - the one call that heddle's emitted C makes, once for each copy. */
#include <stddef.h>

#include "hd_port.h"

/* n bytes from x to y, through the core's memory; with dev NULL in plain C. 0, or an enum hd_error. */
int newcopy_copy(const struct hd_port *dev, const void *x, void *y, size_t n);
