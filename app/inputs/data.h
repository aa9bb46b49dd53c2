/* data.h - read a file of inputs or expected outputs as inferences of a tensor. */
#ifndef HEDDLE_INPUTS_DATA_H
#define HEDDLE_INPUTS_DATA_H

#include "app/job/job.h"

#define DATA_MAX_BYTES ((size_t)1 << 30)

/* Return true if the name ends in .npz: one such file may hold all inputs, or all expected
 * outputs. */
bool data_is_npz(const char *path);

/* Read input or expected output `index` from `given` bytes or from the file at `path`: raw (a
 * multiple of one inference), .npy or .npz. An array must have the tensor's element type. Its shape
 * must be the tensor's; or N times as long in the first dimension (from rank 2 on), or with N
 * before it, for N inferences. In an .npz the tensor's array has its name. Without such a name
 * arrays are used in the archive's order, if their number is that of the inputs (outputs), or one
 * for this file. */
enum status data_read(const struct job *job, bool input, uint32_t index, const char *path,
                      const struct run_bytes *given, uint8_t **bytes, uint64_t *count,
                      struct diag *d);

#endif
