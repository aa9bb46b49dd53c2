"""PyTorch to int8 by ExecuTorch's Arm backend: FOLDER/net.tosa, x.npy, TOSA's reference model's answers y.npy (docs/PYTORCH.md).

    torch_tosa.py NETWORK SIZE FOLDER                          for example: resnet18 64 build/torch
"""
import pathlib
import sys

import numpy as np
import torch
import tosa_reference_model
from executorch.backends.arm.quantizer import TOSAQuantizer, get_symmetric_quantization_config
from executorch.backends.arm.tosa import TosaSpecification
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.exir import to_edge_transform_and_lower
from torch_networks import images, network
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

name, size, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
net, one, x = network(name, size), (images(1, size),), images(4, size, 9)
spec = TosaCompileSpec(TosaSpecification.create_from_string("TOSA-1.0+INT")).dump_intermediate_artifacts_to(str(folder))
quantizer = TOSAQuantizer(spec).set_global(get_symmetric_quantization_config())
prepared = prepare_pt2e(torch.export.export(net, one).module(check_guards=False), quantizer)
for sample in images(16, size):
    prepared(sample[None])
edge = to_edge_transform_and_lower(torch.export.export(convert_pt2e(prepared), one), partitioner=[TOSAPartitioner(spec)])
first, last = ([n.args[1:3] for n in edge.exported_program().graph.nodes if f".{what}_per_tensor" in str(n.target)]
               for what in ("quantize", "dequantize"))
files = list(folder.glob("*.tosa"))
if len(files) != 1 or len(first) != 1:
    sys.exit(f"ExecuTorch leaves operators outside: {len(files)} parts")
content = files[0].rename(folder / "net.tosa").read_bytes()
codes = np.clip(np.rint(x.numpy() / first[0][0]) + first[0][1], -128, 127).astype(np.int8)
y = np.concatenate([tosa_reference_model.run(content, [v[None]])[0][0] for v in codes])
for array, answer in zip(("x", "y", "scale", "real"), (codes, y, last[-1], net(x).detach().numpy())):
    np.save(folder / f"{array}.npy", answer)
