"""Parts of networks of a few operators between quantised values: nodes and constants, ONNX Runtime's answer, and how
many steps heddle's is off. Environment: requirements-new.txt.
"""

import subprocess

import numpy as np
import onnxruntime as ort
from onnx import helper, numpy_helper

ort.set_default_logger_severity(4)


class Nodes:
    """Nodes with one output each, and constants; names are made here."""

    def __init__(self):
        self.nodes, self.inits = [], []

    def const(self, v):
        self.inits.append(numpy_helper.from_array(np.asarray(v), f"c{len(self.inits)}"))
        return self.inits[-1].name

    def node(self, op, *inputs, **attributes):
        name = f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name


def run_onnx(model, feeds):
    """ONNX Runtime's outputs, without its optimiser, which fuses by other rules."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def steps_off(heddle, folder, engine, inputs):
    """Return the least tolerance that heddle's answer to the files `inputs` needs against out.bin, 4 if it is more than
    3, and then what heddle printed."""
    given = [word for name in inputs for word in ("-i", folder / name)]
    for t in range(4):
        command = [heddle, "run", folder / "model.onnx", *given, "--expect", folder / "out.bin", f"--engine={engine}",
                   f"--tolerance={t}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return t, ""
    return 4, (done.stderr or done.stdout).strip()[:300]


def in_float(heddle, folder):
    """The operators that heddle computes in float32, a line each."""
    rows = subprocess.run([heddle, "inspect", folder / "model.onnx"], capture_output=True, text=True, check=True).stdout
    return [line for line in rows.splitlines() if "computes in float32" in line]
