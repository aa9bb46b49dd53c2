"""PyTorch to int8 by ONNX Runtime's quantiser: FOLDER/net.onnx, x.npy, ONNX Runtime's answers y.npy (docs/PYTORCH.md).

    torch_qdq.py NETWORK SIZE FOLDER [--classic] [--uint8]     for example: resnet18 64 build/torch
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from torch_networks import images, network


class Samples(CalibrationDataReader):
    def __init__(self, name, x):
        self.left = iter([{name: v[None]} for v in x])

    def get_next(self):
        return next(self.left, None)


name, size, folder, options = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:]
folder.mkdir(parents=True, exist_ok=True)
real, file = folder / "float.onnx", folder / "net.onnx"
torch.onnx.export(network(name, size), (images(1, size),), real, dynamo="--classic" not in options, external_data=False)
graph = onnx.load(real).graph
kind = QuantType.QUInt8 if "--uint8" in options else QuantType.QInt8
quantize_static(real, file, Samples(graph.input[0].name, images(16, size).numpy()), quant_format=QuantFormat.QDQ,
                per_channel="--uint8" not in options, activation_type=kind, weight_type=kind,
                op_types_to_quantize=sorted({n.op_type for n in graph.node}))  # ReduceMean too, which its default leaves out
x = images(4, size, 9).numpy()
plain = ort.SessionOptions()
plain.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
for model, answers in (file, "y.npy"), (real, "real.npy"):
    session = ort.InferenceSession(model, plain)
    np.save(folder / answers, np.concatenate([session.run(None, {graph.input[0].name: v[None]})[0] for v in x]))
np.save(folder / "x.npy", x)
