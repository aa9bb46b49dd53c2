/* hdk_onnx_node.c - ONNX_NODE: a hosted kernel, for runs on this machine. */
#include <stdio.h>
#include <stdlib.h>

#include "base/onnxruntime/onnxruntime.h"
#include "hdk.h"

void hdk_onnx_node(const struct hdk_onnx_node *p, const void *const *x, void *y)
{
    const char *why = ort_run(x[0], p->n_bytes, p->n_in, x + 1, y, p->y_bytes);

    if (!why)
        return;
    fprintf(stderr, "ONNX Runtime: %s\n", why);
    abort(); /* a kernel has no other way to end the process that runs the model */
}
