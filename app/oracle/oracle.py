"""Ask a framework's own kernels for the answers of a model: heddle run --oracle.

oracle.py litert|onnxruntime MODEL FOLDER N [--reset-state]

In FOLDER, in: in_<k>.bin, input k of N inferences one after another, raw little-endian, C order, in the model's shape
and type (open dimensions follow from the size). Out: out_<k>.bin likewise; t_<i>.bin, tensor i of the first inferences;
oracle.json:
{"runtime", "inferences" (of the inner tensors), "tensors": [{"name", "file", "type"}]}.
Inner tensors are the operators' results, as far as the framework exposes them, up to INNER_BYTES.

LiteRT runs its reference kernels (BUILTIN_REF, no delegate), ONNX Runtime runs without optimisations.
Exit 3: the framework's package is missing, 4: the framework refuses the model; the last line says why.
"""

import json
import math
import pathlib
import struct
import sys

INNER_BYTES = 1 << 28


def missing(package):
    """Exit with code 3 if a package cannot be imported."""
    print(f"the Python package {package} is missing")
    raise SystemExit(3)


def inner_count(n, n_bytes):
    """Return the number of inferences whose inner tensors (n_bytes each) are all kept; at least one."""
    return max(1, min(n, INNER_BYTES // max(1, n_bytes)))


class Tflite:
    """A TFLite model on LiteRT's reference kernels."""

    def __init__(self, path):
        try:
            import ai_edge_litert
            from ai_edge_litert.interpreter import Interpreter, OpResolverType
        except ImportError:
            missing("ai-edge-litert")
        from importlib.metadata import version
        self.runtime = f"LiteRT {version('ai-edge-litert')} (reference kernels)"
        self.new = lambda content: Interpreter(
            model_content=content, num_threads=1,
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        self.content = pathlib.Path(path).read_bytes()
        plain = self.new(self.content)
        plain.allocate_tensors()
        self.outputs = [int(d["index"]) for d in plain.get_output_details()]
        details = {int(t["index"]): t for t in plain.get_tensor_details()}
        made = []
        for op in plain._get_ops_details():  # there is no public list of operators
            made += [int(t) for t in op["outputs"] if int(t) not in made and int(t) >= 0]
        self.inner = [t for t in made if t in details and details[t]["dtype"].__name__ != "object_"]
        self.interpreter = self.new(with_outputs(self.content, self.outputs + self.inner))
        self.interpreter.allocate_tensors()

    def n_inputs(self):
        return len(self.interpreter.get_input_details())

    def input_spec(self, k):
        d = self.interpreter.get_input_details()[k]
        return d["dtype"], [int(v) for v in d["shape_signature"]] if len(d["shape_signature"]) else []

    def prepare(self, shapes):
        """Fix open dimensions."""
        for d, shape in zip(self.interpreter.get_input_details(), shapes):
            if [int(v) for v in d["shape"]] != shape:
                self.interpreter.resize_tensor_input(d["index"], shape)
        self.interpreter.allocate_tensors()

    def reset(self):
        self.interpreter.reset_all_variables()

    def run(self, arrays):
        """Return the outputs, and [(name, array)] of the operators' results."""
        it = self.interpreter
        for d, x in zip(it.get_input_details(), arrays):
            it.set_tensor(d["index"], x)
        it.invoke()
        details = it.get_output_details()
        values = [it.get_tensor(d["index"]).copy() for d in details]
        n = len(self.outputs)
        return values[:n], [(d["name"], v) for d, v in zip(details[n:], values[n:])]


def with_outputs(content, tensors):
    """Return the TFLite file with `tensors` as the outputs of its first subgraph.

    A tensor that is not an output may be overwritten by a later operator. The file is patched in place: a new int32
    vector is appended, and SubGraph.outputs (slot 8 of its vtable) points to it.
    """
    buf = bytearray(content)

    def u32(at):
        return struct.unpack_from("<I", buf, at)[0]

    def slot(table, offset):
        vtable = table - struct.unpack_from("<i", buf, table)[0]
        return table + struct.unpack_from("<H", buf, vtable + offset)[0]

    subgraphs = slot(u32(0), 8)
    vector = subgraphs + u32(subgraphs)
    field = slot(vector + 4 + u32(vector + 4), 8)
    buf += bytes(-len(buf) % 4)
    struct.pack_into("<I", buf, field, len(buf) - field)
    return bytes(buf) + struct.pack(f"<I{len(tensors)}i", len(tensors), *tensors)


class Onnx:
    """An ONNX model on ONNX Runtime without optimisations."""

    def __init__(self, path):
        try:
            import onnx
            import onnxruntime
        except ImportError as e:
            missing(e.name)
        self.runtime = f"ONNX Runtime {onnxruntime.__version__} (no optimisations)"
        model = onnx.load(path, load_external_data=False)
        self.outputs = [o.name for o in model.graph.output]
        made = [name for node in model.graph.node for name in node.output if name]
        self.inner = [name for name in made if name not in self.outputs]
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        for name in self.inner:
            model.graph.output.append(onnx.ValueInfoProto(name=name))
        # External data would need a file in the model's folder; use the plain model then.
        external = any(t.data_location == onnx.TensorProto.EXTERNAL for t in model.graph.initializer)
        if external:
            self.inner = []
        self.session = onnxruntime.InferenceSession(
            str(path) if external else model.SerializeToString(), options,
            providers=["CPUExecutionProvider"])

    def n_inputs(self):
        return len(self.session.get_inputs())

    def input_spec(self, k):
        import numpy as np
        i = self.session.get_inputs()[k]
        kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(bool)": np.bool_,
                 "tensor(float16)": np.float16}
        kind = kinds.get(i.type) or np.dtype(i.type.removeprefix("tensor(").removesuffix(")")).type
        return kind, [v if isinstance(v, int) else -1 for v in i.shape]

    def prepare(self, shapes):
        pass

    def reset(self):
        pass

    def run(self, arrays):
        feeds = {i.name: x for i, x in zip(self.session.get_inputs(), arrays)}
        values = self.session.run(self.outputs + self.inner, feeds)
        n = len(self.outputs)
        return values[:n], list(zip(self.outputs + self.inner, values))


def shape_of(spec, n_elements):
    """Return the shape with at most one open dimension (-1) filled in."""
    known = math.prod(v for v in spec if v > 0)
    shape = [v if v > 0 else n_elements // max(1, known) if i == spec.index(-1) else 1
             for i, v in enumerate(spec)]
    return [int(v) for v in shape]


def read_inputs(oracle, folder, n):
    """Read input arrays [n, *shape] from in_<k>.bin."""
    import numpy as np
    arrays, shapes = [], []
    for k in range(oracle.n_inputs()):
        kind, spec = oracle.input_spec(k)
        flat = np.fromfile(folder / f"in_{k}.bin", kind)
        shapes.append(shape_of(spec, flat.size // n))
        arrays.append(flat.reshape([n, *shapes[-1]]))
    oracle.prepare(shapes)
    return arrays


def main():
    kind, path, folder, n = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
    reset = "--reset-state" in sys.argv[5:]
    oracle = (Tflite if kind == "litert" else Onnx)(path)
    arrays = read_inputs(oracle, folder, n)
    files = {}

    def append(name, value):
        if name not in files:
            files[name] = open(folder / name, "wb")
        value.tofile(files[name])

    tensors, kept = [], 0
    for k in range(n):
        if reset:
            oracle.reset()
        outputs, inner = oracle.run([x[k] for x in arrays])
        for i, value in enumerate(outputs):
            append(f"out_{i}.bin", value)
        if k == 0:
            inner_bytes = sum(v.nbytes for _, v in inner)
            kept = inner_count(n, inner_bytes)
            tensors = [{"name": name, "file": f"t_{i}.bin", "type": v.dtype.name}
                       for i, (name, v) in enumerate(inner)]
        if k < kept:
            for i, (_, value) in enumerate(inner):
                append(f"t_{i}.bin", value)
    for f in files.values():
        f.close()
    (folder / "oracle.json").write_text(json.dumps(
        {"runtime": oracle.runtime, "inferences": kept, "tensors": tensors}))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception as e:  # treat any exception of the framework as its refusal
        print(f"{type(e).__name__}: {str(e).strip().splitlines()[-1] if str(e).strip() else ''}")
        sys.exit(4)
