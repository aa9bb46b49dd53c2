#!/usr/bin/env python3
"""mlf_check.py NET.tar PACKAGE MODULES: check that NET.tar is TVM's Model Library Format, version 7.

Written from the format's documentation and from what readers of it ask for: TVMC and the project API (metadata.json,
codegen/host, parameters/MODULE.params), microTVM's sizes ("./metadata.json" by that name), MLonMCU's wrappers. PACKAGE:
the folder that heddle writes of the same network, whose metadata.json has the sizes. MODULES "all": and read by what
TVM and MLonMCU of PyPI still have of it. Prints nothing if all is as it should be."""
import json
import re
import struct
import sys
import tarfile

wrong = []


def check(condition, what):
    if not condition:
        wrong.append(what)


def params(data):
    """Yield name: (shape, dtype, bytes) from a list of TVM's arrays."""
    at = 0

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    assert take("Q") == 0xF7E58D4F05049CB7 and take("Q") == 0
    names = []
    for _ in range(take("Q")):
        n = take("Q")
        names.append(data[at : at + n].decode("ascii"))
        at += n
    assert take("Q") == len(names)
    arrays = {}
    for name in names:
        assert take("Q") == 0xDD5E40F096B4A13F and take("Q") == 0 and take("ii") == (1, 0)
        rank = take("i")
        code, bits, lanes = take("BBH")
        shape = tuple(take("q") for _ in range(rank))
        n = take("q")
        assert lanes == 1 and code in (0, 1, 2)
        arrays[name] = shape, f"{('int', 'uint', 'float')[code]}{bits}", data[at : at + n]
        at += n
    assert at == len(data), "bytes after the last array"
    return arrays


def check_metadata(metadata, package):
    check(metadata["version"] == 7, "version")
    check(list(metadata["modules"]) == ["default"], "modules")
    module = metadata["modules"]["default"]
    members = ["executors", "export_datetime", "external_dependencies", "memory", "model_name", "style", "target"]
    check(sorted(module) == members, f"members of the module: {sorted(module)}")
    check(module["model_name"] == "default" and module["executors"] == ["aot"] and module["style"] == "full-model", "module")
    check(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", module["export_datetime"]), "export_datetime")
    check(all(isinstance(t, str) and t.split()[0] == "c" for t in module["target"]), "target")
    for one in module["external_dependencies"]:
        check(set(one) == {"short_name", "url", "url_type", "version_spec"}, "external_dependencies")
    main = module["memory"]["functions"]["main"]
    check(len(main) == 1 and main[0]["device"] == 1, "main: one entry, of the CPU")
    memory = package["memory"]
    check(main[0]["workspace_size_bytes"] == memory["arena_bytes"] + memory["state_bytes"], "workspace_size_bytes")
    check(main[0]["io_size_bytes"] == memory["io_bytes"], "io_size_bytes")
    check(main[0]["constants_size_bytes"] >= memory["constant_bytes"], "constants_size_bytes")
    names = {"i": "int", "u": "uint", "f": "float"}
    for side in "inputs", "outputs":
        sizes = [(x["bytes"], names[x["type"][0]] + x["type"][1:]) for x in package[side]]
        check([(x["size"], x["dtype"]) for x in main[0][side].values()] == sizes, side)
    return module


def check_functions(module, package, sources):
    """Check that each function that computes an operator is in the sources, with the largest scratch of its operators."""
    want = {}
    for layer in package["layers"]:
        for op in layer["operators"]:
            name = op.get("kernel", op.get("function", "hdk_blocks_run" if "blocks_of" in op else None))
            if name:
                want[name] = max(want.get(name, 0), op.get("scratch_bytes", 0))
    found = {}
    for f in module["memory"]["functions"]["operator_functions"]:
        check(f["workspace"][0]["device"] == 1, f"{f['function_name']}: device")
        found[f["function_name"]] = f["workspace"][0]["workspace_size_bytes"]
        check(re.search(rf"\b{f['function_name']}\(", sources), f"{f['function_name']} is in no source")
    check(found == want, f"operator_functions: {found}, not {want}")


def other_readers(path, metadata, arrays):
    """Readers of the format in TVM and MLonMCU of PyPI."""
    import mlonmcu.target  # first: its modules have circular imports
    from tvm.runtime import load_param_dict
    from mlonmcu.flow.tvm.backend.tvmaot import TVMAOTBackend
    from mlonmcu.flow.tvm.backend.tvmcg import TVMCGBackend

    with tarfile.open(path) as tar:
        loaded = load_param_dict(tar.extractfile("./parameters/default.params").read())
    check(set(loaded) == set(arrays), "TVM reads other parameters")
    for name, (shape, dtype, data) in arrays.items():
        x = loaded[name]
        check((tuple(x.shape), str(x.dtype), x.numpy().tobytes()) == (shape, dtype, data), f"TVM: parameter {name}")
    main = metadata["modules"]["default"]["memory"]["functions"]
    check(
        TVMAOTBackend.get_workspace_size_from_metadata(None, metadata) == main["main"][0]["workspace_size_bytes"],
        "MLonMCU's workspace",
    )
    check(
        TVMCGBackend.get_max_workspace_size_from_metadata(None, metadata)
        == max([f["workspace"][0]["workspace_size_bytes"] for f in main["operator_functions"]], default=0),
        "MLonMCU's workspace of operators",
    )


def main():
    path, folder, modules = sys.argv[1:]
    package = json.load(open(f"{folder}/metadata.json"))
    with tarfile.open(path) as tar:
        members = [m.name for m in tar.getmembers()]
        read = {name: tar.extractfile(name).read() for name in members}
    check("./metadata.json" in members, "no ./metadata.json")
    check(all(name.startswith("./") for name in members), "names without ./")
    for name in members:
        check(re.match(r"\./(metadata\.json|codegen/host/(src/[^/]*\.c|include/.*\.h)|parameters/default\.params)$", name), name)
    metadata = json.loads(read["./metadata.json"])
    sources = "".join(read[name].decode() for name in members if "/src/" in name)
    module = check_metadata(metadata, package)
    check_functions(module, package, sources)
    header = read["./codegen/host/include/tvmgen_default.h"].decode()
    for side in "inputs", "outputs":
        found = re.search(rf"struct tvmgen_default_{side} {{\n(.*?)}};", header, re.S)
        fields = re.findall(r"void \*(\w+);", found.group(1)) if found else None
        check(fields == list(module["memory"]["functions"]["main"][0][side]), f"fields of {side}")
    check("int32_t tvmgen_default_run(struct tvmgen_default_inputs *inputs," in header, "tvmgen_default_run")
    arrays = params(read["./parameters/default.params"])
    check(all(len(data) for _, _, data in arrays.values()), "an empty parameter")
    check(len(arrays) > 0 or package["memory"]["constant_bytes"] < 64, "no parameters")
    if modules == "all":
        other_readers(path, metadata, arrays)
    print("\n".join(wrong), end="\n" if wrong else "")


main()
