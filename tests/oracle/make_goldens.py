"""Run a TFLite file on the golden oracle and write what it answers.

    make_goldens.py FOLDER                      model.tflite and in_<k>.bin in, out_<k>.bin and meta.json out
    make_goldens.py FILE.tflite --in A.bin [B.bin ...] --out DIR
    ... --layers DIR [--layers-samples N]       also every operator's outputs, of the first N samples (default 1)

The oracle is tflite-runtime 2.14.0 with OpResolverType.BUILTIN_REF: reference kernels, double rounding,
no delegate. in_<k>.bin holds input k of all samples one after another, raw little-endian, C order, in
the model's own shape and type; out_<k>.bin likewise. Every sample starts from the initial state.
Environment: requirements-classic.txt.
"""

import argparse
import collections
import hashlib
import json
import math
import pathlib
import sys

import numpy as np

ORACLE = "tflite-runtime 2.14.0 BUILTIN_REF"


def open_model(content):
    """An interpreter on the reference kernels with its tensors allocated."""
    from tflite_runtime.interpreter import Interpreter, OpResolverType

    it = Interpreter(model_content=content, num_threads=1,
                     experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    it.allocate_tensors()
    return it


def read_samples(it, files):
    """Read in_<k> files. Returns one array [n, *shape] per input; all have the same n."""
    details = it.get_input_details()
    if len(files) != len(details):
        raise SystemExit(f"the model has {len(details)} inputs, {len(files)} files given")
    arrays = []
    for d, path in zip(details, files):
        flat = np.fromfile(path, d["dtype"])
        size = math.prod(int(v) for v in d["shape"])
        if flat.size == 0 or flat.size % size:
            raise SystemExit(f"{path}: {flat.size} elements, not a multiple of {size}")
        arrays.append(flat.reshape([-1, *d["shape"]]))
    if len({len(a) for a in arrays}) != 1:
        raise SystemExit("the input files hold different numbers of samples")
    return arrays


def run(it, arrays):
    """Returns one array [n, *shape] per output of the model."""
    ins, outs = it.get_input_details(), it.get_output_details()
    results = [[] for _ in outs]
    for sample in zip(*arrays):
        it.reset_all_variables()
        for d, x in zip(ins, sample):
            it.set_tensor(d["index"], x)
        it.invoke()
        for k, d in enumerate(outs):
            results[k].append(it.get_tensor(d["index"]).copy())
    return [np.stack(r) for r in results]


def quantisation(detail):
    """Scales and zero points of a tensor as plain lists; empty if it is not quantised."""
    q = detail["quantization_parameters"]
    return {"scale": [float(v) for v in q["scales"]], "zero_point": [int(v) for v in q["zero_points"]]}


def border(detail):
    """One entry of meta.json's inputs or outputs."""
    return {"index": int(detail["index"]), "name": detail["name"], "shape": [int(v) for v in detail["shape"]],
            "dtype": np.dtype(detail["dtype"]).name, **quantisation(detail)}


def macs_of(op, tensors):
    """Multiplications of one operator that its shapes imply; 0 where it is neither a layer nor a product."""
    name = op["op_name"]
    if name == "BATCH_MATMUL":  # the rows are the first operand's: no oracle-made model transposes it
        rows = [int(v) for v in tensors[op["inputs"][0]]["shape"]]
        return math.prod(int(v) for v in tensors[op["outputs"][0]]["shape"]) * rows[-1]
    if name not in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
        return 0
    weights = [int(v) for v in tensors[op["inputs"][1]]["shape"]]
    n_out = math.prod(int(v) for v in tensors[op["outputs"][0]]["shape"])
    if name == "CONV_2D":
        return n_out * weights[1] * weights[2] * weights[3]
    if name == "DEPTHWISE_CONV_2D":
        return n_out * weights[1] * weights[2]
    return n_out * weights[1]


def facts(it, content):
    """The contents of meta.json for a model file, read through the interpreter."""
    ops = it._get_ops_details()
    tensors = {t["index"]: t for t in it.get_tensor_details()}
    used = {i for op in ops for i in [*op["inputs"], *op["outputs"]] if i >= 0}
    macs = collections.Counter()
    for op in ops:
        macs[op["op_name"]] += macs_of(op, tensors)
    types = collections.Counter(np.dtype(tensors[i]["dtype"]).name for i in sorted(used))
    return {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "op_count": len(ops),
        "ops": [op["op_name"] for op in ops],
        "op_histogram": dict(collections.Counter(op["op_name"] for op in ops)),
        "macs": sum(macs.values()),
        "macs_by_op": {k: v for k, v in macs.items() if v},
        "tensor_types": dict(types),
        "inputs": [border(d) for d in it.get_input_details()],
        "outputs": [border(d) for d in it.get_output_details()],
    }


def golden_facts(n_samples):
    """The part of meta.json about samples and goldens."""
    return {
        "samples": n_samples,
        "golden_files": {
            "input": "in_<input>.bin",
            "output": "out_<output>.bin",
            "layout": "all samples one after another, raw little-endian, C order, tensor shape as in inputs/outputs (NHWC)",
        },
        "oracle": {"golden": ORACLE},
    }


def with_outputs(content, tensors):
    """The same model with `tensors` as its graph outputs.

    experimental_preserve_all_tensors is not enough: in 2.14.0 an ADD may still write over its first
    input, whose dump then shows the sum. A graph output is never overwritten. The file is patched in
    place: a new int32 vector goes to its end and SubGraph.outputs (slot 8 of its vtable) points to it.
    """
    buf = bytearray(content)

    def u32(at):
        return int.from_bytes(buf[at:at + 4], "little")

    def slot(table, offset):
        vtable = table - int.from_bytes(buf[table:table + 4], "little", signed=True)
        return table + int.from_bytes(buf[vtable + offset:vtable + offset + 2], "little")

    subgraphs = slot(u32(0), 8)
    vector = subgraphs + u32(subgraphs)
    subgraph = vector + 4 + u32(vector + 4)
    field = slot(subgraph, 8)
    buf += bytes(-len(buf) % 4)
    buf[field:field + 4] = (len(buf) - field).to_bytes(4, "little")
    for v in [len(tensors), *tensors]:
        buf += int(v).to_bytes(4, "little")
    return bytes(buf)


def write_layers(content, arrays, folder, n_samples):
    """Write every operator's outputs of the first samples, and layers.json that lists them.

    File op<index>_t<tensor>.bin holds the samples one after another.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plain = open_model(content)
    ops = plain._get_ops_details()
    tensors = {t["index"]: t for t in plain.get_tensor_details()}
    first = [x[:n_samples] for x in arrays]
    places = [(int(op["index"]), op["op_name"], int(t)) for op in ops for t in op["outputs"]]
    it = open_model(with_outputs(content, [t for _, _, t in places]))
    data = dict(zip((t for _, _, t in places), run(it, first)))
    for d, out in zip(plain.get_output_details(), run(plain, first)):
        assert np.array_equal(out, data[d["index"]]), "more outputs changed the answer"

    rows = []
    for index, name, t in places:
        file = f"op{index:03d}_t{t}.bin"
        data[t].tofile(folder / file)
        rows.append({"op_index": index, "op": name, "tensor": t, "file": file,
                     "shape": [int(v) for v in tensors[t]["shape"]],
                     "dtype": np.dtype(tensors[t]["dtype"]).name, **quantisation(tensors[t])})
    listing = {"oracle": ORACLE + ", every operator's output made a graph output",
               "samples": len(first[0]), "tensors": rows}
    (folder / "layers.json").write_text(json.dumps(listing, indent=1) + "\n")


def accuracy(outputs, labels_file):
    """Share of samples whose largest output is the label. A tie counts for the lowest class."""
    labels = np.array([int(v) for v in labels_file.read_text().split()])
    guess = outputs[0].reshape(len(labels), -1).argmax(1)
    return int((guess == labels).sum()), len(labels)


def goldens_of_folder(folder):
    """Make out_<k>.bin and complete meta.json for a model folder. Returns (content, input arrays, meta)."""
    content = (folder / "model.tflite").read_bytes()
    it = open_model(content)
    files = [folder / f"in_{k}.bin" for k in range(len(it.get_input_details()))]
    arrays = read_samples(it, files)
    outputs = run(it, arrays)
    for k, out in enumerate(outputs):
        out.tofile(folder / f"out_{k}.bin")
    meta_file = folder / "meta.json"
    meta = json.loads(meta_file.read_text()) if meta_file.exists() else {"name": folder.name}
    meta.update(facts(it, content), **golden_facts(len(arrays[0])))
    if (folder / "labels.txt").exists():
        right, n = accuracy(outputs, folder / "labels.txt")
        meta["accuracy"] = {"right": right, "of": n, "percent": round(100 * right / n, 2)}
    meta_file.write_text(json.dumps(meta, indent=1) + "\n")
    return content, arrays, meta


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("model", type=pathlib.Path, help="a model folder, or a .tflite file with --in and --out")
    ap.add_argument("--in", dest="inputs", nargs="+", type=pathlib.Path)
    ap.add_argument("--out", type=pathlib.Path)
    ap.add_argument("--layers", type=pathlib.Path)
    ap.add_argument("--layers-samples", type=int, default=1)
    args = ap.parse_args()

    if args.model.is_dir():
        if args.inputs or args.out:
            ap.error("--in and --out go with a .tflite file, not with a folder")
        content, arrays, meta = goldens_of_folder(args.model)
        print(f"{meta['name']}: {meta['samples']} samples, {meta['macs']} MACs, {' '.join(meta['ops'])}"
              + (f", accuracy {meta['accuracy']['percent']} %" if "accuracy" in meta else ""))
    else:
        if not args.inputs or not args.out:
            ap.error("a .tflite file needs --in and --out")
        content = args.model.read_bytes()
        it = open_model(content)
        arrays = read_samples(it, args.inputs)
        args.out.mkdir(parents=True, exist_ok=True)
        for k, out in enumerate(run(it, arrays)):
            out.tofile(args.out / f"out_{k}.bin")
    if args.layers:
        write_layers(content, arrays, args.layers, args.layers_samples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
