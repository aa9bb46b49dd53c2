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


def open_model(content, preserve=False):
    """An interpreter on the reference kernels with its tensors allocated."""
    from tflite_runtime.interpreter import Interpreter, OpResolverType

    it = Interpreter(model_content=content, num_threads=1, experimental_preserve_all_tensors=preserve,
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


def border(detail, index):
    """One entry of meta.json's inputs or outputs."""
    return {"index": index, "name": detail["name"], "shape": [int(v) for v in detail["shape"]],
            "dtype": np.dtype(detail["dtype"]).name, **quantisation(detail)}


def macs_of(op, tensors):
    """Multiplications of one operator that its shapes imply; 0 where there is no weight tensor."""
    name = op["op_name"]
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
    """What meta.json says of a model file, read through the interpreter."""
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
        "inputs": [border(d, d["index"]) for d in it.get_input_details()],
        "outputs": [border(d, d["index"]) for d in it.get_output_details()],
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


def write_layers(content, arrays, folder, n_samples):
    """Write every operator's outputs of the first samples, and layers.json that lists them.

    File op<index>_t<tensor>.bin holds the samples one after another.
    """
    folder.mkdir(parents=True, exist_ok=True)
    it = open_model(content, preserve=True)
    tensors = {t["index"]: t for t in it.get_tensor_details()}
    rows, data = [], collections.defaultdict(list)
    for sample in list(zip(*arrays))[:n_samples]:
        it.reset_all_variables()
        for d, x in zip(it.get_input_details(), sample):
            it.set_tensor(d["index"], x)
        it.invoke()
        for op in it._get_ops_details():
            for t in op["outputs"]:
                data[int(op["index"]), int(t)].append(it.get_tensor(t).copy())
    for op in it._get_ops_details():
        for t in op["outputs"]:
            key = int(op["index"]), int(t)
            name = f"op{key[0]:03d}_t{key[1]}.bin"
            np.stack(data[key]).tofile(folder / name)
            rows.append({"op_index": key[0], "op": op["op_name"], "tensor": key[1], "file": name,
                         "shape": [int(v) for v in tensors[t]["shape"]],
                         "dtype": np.dtype(tensors[t]["dtype"]).name, **quantisation(tensors[t])})
    listing = {"oracle": ORACLE + " preserve_all_tensors", "samples": min(n_samples, len(arrays[0])),
               "tensors": rows}
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
