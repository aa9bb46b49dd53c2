"""PyTorch to int8 by litert-torch and AI Edge Quantizer: FOLDER/net.tflite, x.npy, LiteRT's answers y.npy (docs/PYTORCH.md).

    torch_litert.py NETWORK SIZE FOLDER                        for example: resnet18 64 build/torch
"""
import pathlib
import sys

import litert_torch
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from ai_edge_quantizer import quantizer, recipe
from torch_networks import images, network

name, size, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
real, file = str(folder / "float.tflite"), str(folder / "net.tflite")


def run(file, x):
    net = Interpreter(file, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    net.allocate_tensors()
    (taken,), (given,) = net.get_input_details(), net.get_output_details()
    scale, zero = taken["quantization"]
    x = np.clip(np.rint(x / scale) + zero, -128, 127).astype(np.int8) if scale else x
    answers = []
    for sample in x:
        net.set_tensor(taken["index"], sample[None])
        net.invoke()
        answers.append(net.get_tensor(given["index"]).copy())
    return x, np.concatenate(answers), given["quantization"]


litert_torch.convert(network(name, size), (images(1, size),)).export(real)
tool = quantizer.Quantizer(real, recipe.static_wi8_ai8())
samples = {"serving_default": [{"args_0": v[None]} for v in images(16, size).numpy()]}
tool.quantize(tool.calibrate(samples)).export_model(file, overwrite=True)
np.save(folder / "real.npy", run(real, images(4, size, 9).numpy())[1])
for array, answer in zip(("x.npy", "y.npy", "scale.npy"), run(file, images(4, size, 9).numpy())):
    np.save(folder / array, answer)
