/* onnx_exchange.h - QuantizeLinear before nodes that only move values. */
#ifndef HEDDLE_COMPILER_IMPORT_ONNX_COMPOSE_ONNX_EXCHANGE_H
#define HEDDLE_COMPILER_IMPORT_ONNX_COMPOSE_ONNX_EXCHANGE_H

#include "compiler/import/onnx/onnx_import.h"

/* Put each QuantizeLinear of one scale before the nodes that only move its values. Initializers are known. */
void ox_quantise_first(struct ox *m);

#endif
