"""module.py - import heddle: digits on the functional model against its golden file, arrays without copies, errors, texts."""
import importlib.util
import json
import os
import pathlib
import sys

import numpy as np

import heddle

model = pathlib.Path(os.environ["HEDDLE_HOME"]) / "tests/models/digits"
x = np.fromfile(model / "in_0.bin", np.int8).reshape(-1, 8, 8, 1)[:40]
golden = np.fromfile(model / "out_0.bin", np.int8).reshape(-1, 10)[:40]


def refused(kind, text, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        assert text in str(error), f"expected {text!r}, found {str(error)!r}"
        return error
    raise AssertionError(f"expected {kind.__name__}: {text}")


texts = []
with heddle.Network(model / "model.tflite", engine="func", hw="tiny", on_text=lambda kind, text: texts.append(kind)) as network:
    (entry,), (answer,) = network.inputs, network.outputs
    assert (entry.shape, entry.dtype, entry.zero_point, answer.n_bytes) == ((1, 8, 8, 1), np.int8, -128, 10), network.inputs
    result = network.run(x, expect=[golden])
    assert result.verdict == "match" and result.outputs[0].shape == (40, 10) and (result.outputs[0] == golden).all()
    assert result.report["schema"] == "heddle.stats.v2" and len(result.layers) == 15, len(result.layers)
    assert '<iframe srcdoc="&lt;!doctype html' in result._repr_html_() and "14_softmax" in result.page

    lent = network.run(x, copy=False).outputs[0]
    assert not lent.flags.owndata and not lent.flags.writeable and (lent == golden).all()
    refused(BufferError, "copy or delete them", network.run, x)
    row = lent[3:4]
    del lent
    refused(BufferError, "copy or delete them", network.run, x)
    del row
    assert network.run(x[0]).outputs[0].tobytes() == golden[0].tobytes()
    wrong = golden.copy()
    wrong[7, 3] += 1
    assert network.run(x, expect=[wrong]).verdict == "mismatch"
    assert "00_" in network.inspect() and "ARRAY" in network.disasm().upper()
    found = refused(heddle.Error, "found int8 (40, 8, 8), expected int8 ('inferences', 8, 8, 1)", network.run, x[..., 0])
    assert found.code == heddle.Code.USAGE
    refused(heddle.Error, "found float32", network.run, x.astype(np.float32))
    refused(heddle.Error, "found 2 arrays, expected none or 1", network.run, x, x)
    network.compile(pathlib.Path("package"))
    assert pathlib.Path("package/model.c").exists() or list(pathlib.Path("package").rglob("*.c"))
refused(ValueError, "closed", network.run, x)
assert heddle.run("digits", x, engine="ref").verdict in ("match", "unchecked")

assert refused(heddle.Error, "did you mean --engine?", heddle.Network, "digits", engin="func").code == heddle.Code.USAGE
assert refused(heddle.Error, "neither a file nor a network", heddle.Network, "nosuch").code == heddle.Code.USAGE
refused(heddle.Error, "found 'fly'", heddle.command, "fly")
assert heddle.command("hw").startswith("configuration")
suite = {"schema": "heddle.suite.v1", "name": "s",
         "runs": [{"networks": ["digits"], "configurations": ["tiny"], "engines": ["ref"]}]}
pathlib.Path("suite.json").write_text(json.dumps(suite))
runs = heddle.regress("suite.json", commit="c1")
assert (runs.report["planned"], runs.wrong, runs.report["runs"][0]["verdict"]) == (1, [], "match"), runs
assert runs._repr_html_().startswith("<iframe srcdoc=") and "digits tiny ref" in runs.page
suite["runs"][0]["networks"] = [{"model": str(model / "model.tflite"), "inputs": [str(model / "in_0.bin")],
                                 "expect": ["wrong.bin"]}]
wrong = np.fromfile(model / "out_0.bin", np.int8)
wrong[0] ^= 1
wrong.tofile("wrong.bin")
pathlib.Path("suite.json").write_text(json.dumps(suite))
runs = heddle.regress("suite.json", commit="c1")
assert len(runs.wrong) == 1 and ": bytes: " in runs.wrong[0], runs.wrong
assert refused(heddle.Error, "nosuch.json", heddle.regress, "nosuch.json").code == heddle.Code.USAGE
if importlib.util.find_spec("pandas"):
    frame = runs.frame()
    assert frame.shape[0] == 1 and frame.verdict.iloc[0] == "mismatch" and frame.engine.iloc[0] == "ref", frame
else:
    refused(ModuleNotFoundError, "pandas", runs.frame)
assert heddle.version() in (pathlib.Path(os.environ["HEDDLE_HOME"]) / "CMakeLists.txt").read_text()
print("module", sys.version.split()[0], heddle.version())
