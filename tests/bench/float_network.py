#!/usr/bin/env python3
"""float_network.py QUANTISED.tflite FLOAT.tflite: the same network in float32.

Constants become what their quantised values stand for, activations lose their scales, QUANTIZE and DEQUANTIZE
fall away; operators, shapes and fused activations stay. Needs requirements-new.txt.
"""
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

STORED = {schema.TensorType.INT8: np.int8, schema.TensorType.UINT8: np.uint8, schema.TensorType.INT32: np.int32}
CONVERSIONS = (schema.BuiltinOperator.QUANTIZE, schema.BuiltinOperator.DEQUANTIZE)


def dequantised(tensor, data):
    """Return the numbers that the quantised values of a constant represent."""
    q = tensor.quantization
    codes = np.frombuffer(bytes(data), STORED[tensor.type]).reshape(tensor.shape)
    along = [1] * codes.ndim
    if len(q.scale) > 1:  # a bias may name the dimension of its weights
        along[min(q.quantizedDimension, codes.ndim - 1)] = len(q.scale)
    return ((codes - np.reshape(q.zeroPoint, along)) * np.reshape(q.scale, along)).astype(np.float32)


def is_quantised(tensor):
    q = tensor.quantization
    return q is not None and q.scale is not None and len(q.scale) > 0


def to_float(model, graph):
    for tensor in graph.tensors:
        if not is_quantised(tensor):
            continue
        data = model.buffers[tensor.buffer].data
        if data is not None and len(data):
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(dequantised(tensor, data).tobytes(), np.uint8)
            tensor.buffer = len(model.buffers)
            model.buffers.append(buffer)
        tensor.type, tensor.quantization = schema.TensorType.FLOAT32, None


def drop_conversions(model, graph):
    """Readers of a conversion's output read its input; an output of the network is kept by the operator before it."""
    same, kept = {}, []
    for op in graph.operators:
        op.inputs = [same.get(i, i) for i in op.inputs]
        code = model.operatorCodes[op.opcodeIndex]
        if max(code.builtinCode, code.deprecatedBuiltinCode) in CONVERSIONS:
            same[op.outputs[0]] = op.inputs[0]
        else:
            kept.append(op)
    graph.operators = kept
    graph.outputs = [same.get(i, i) for i in graph.outputs]


def main():
    with open(sys.argv[1], "rb") as f:
        model = schema.ModelT.InitFromPackedBuf(f.read(), 0)
    model.metadata = model.metadataBuffer = model.signatureDefs = None
    for graph in model.subgraphs:
        to_float(model, graph)
        drop_conversions(model, graph)
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    with open(sys.argv[2], "wb") as f:
        f.write(builder.Output())


if __name__ == "__main__":
    main()
