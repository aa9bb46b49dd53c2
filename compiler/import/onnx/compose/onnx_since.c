/* onnx_since.c - which opsets have an operator. */
#include "compiler/import/onnx/onnx_import.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *opsets;
} since[] = {
#define SINCE(name, opsets) {#name, opsets},
#include "compiler/import/onnx/onnx_since.def"
};

/* A node of a text, whose name is its operator's, is of the newest opset. */
enum status ox_check_since(struct ox *m, const char *op)
{
    for (uint32_t i = 0; m->node->name != m->node->op_type && i < sizeof since / sizeof *since; i++)
        if (strcmp(since[i].name, op) == 0 && strtol(since[i].opsets, NULL, 10) > m->opset)
            return FAIL(m->d, ST_MODEL, "the operator is of opset %ld and later",
                        strtol(since[i].opsets, NULL, 10));
    return ST_OK;
}
