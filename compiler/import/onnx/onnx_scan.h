/* onnx_scan.h - from bytes to an unpacked protobuf message within fixed bounds. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_ONNX_SCAN_H
#define HEDDLE_COMPILER_IMPORT_ONNX_ONNX_SCAN_H

#include "base/arena.h"
#include "base/status.h"
#include "onnx.pb-c.h"

/* Walk the wire format of a ModelProto without unpacking: every length is within its message,
 * messages nest at most 16 deep, at most a million fields. ST_MODEL otherwise. */
enum status onnx_scan(const uint8_t *data, size_t n_bytes, struct diag *d);

/* Scan, then unpack into `a`. protobuf-c bounds neither depth nor memory itself: the scan does the
 * one, an allocator of 32 MiB and twelve times the file the other. */
enum status onnx_unpack(struct arena *a, const uint8_t *data, size_t n_bytes,
                        const Onnx__ModelProto **model, struct diag *d);

#endif
