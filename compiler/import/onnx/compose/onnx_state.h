/* onnx_state.h - inputs of the graph that are outputs of the step before. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_COMPOSE_ONNX_STATE_H
#define HEDDLE_COMPILER_IMPORT_ONNX_COMPOSE_ONNX_STATE_H

#include "compiler/import/onnx/onnx_import.h"

/* Return the state that has this input or, if that is NULL, this output; NULL: none. */
const struct onnx_state *ox_state_of(const struct ox *m, const char *input, const char *output);
/* The input's tensor becomes a variable, and the input's value is read from it. */
enum status ox_read_state(struct ox *m, struct ox_value *v);
/* Tensor `id` is what the variable of state `s` holds for the next step. */
enum status ox_assign_state(struct ox *m, const struct onnx_state *s, uint32_t id);

#endif
