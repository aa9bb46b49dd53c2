#!/usr/bin/env python3
"""bench_peers.py: cycles of each layer compared with two estimators, all with 256 multipliers.

    make bench-peers VENV=/path/to/venv [MODELS='resnet8_own']     # VENV with tests/bench/requirements-peers.txt

  heddle      measured: the RTL of sys16 (16 x 16), weights and activations through its memory model
  SCALE-Sim   estimated: 16 x 16, the best of its three dataflows for each layer, compute alone (matrix products
              and convolutions; a depthwise convolution is one product a channel)
  Vela        estimated: Ethos-U55-256, NPU cycles of the operators after the same tensor

A part that is not installed is left out and said so; exit status 77 when neither is there.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import bench_host

HEDDLE = bench_host.TOP / "build/heddle"
CONFIG = """[general]
run_name = peers
[architecture_presets]
ArrayHeight: 16
ArrayWidth: 16
IfmapSramSzkB: 128
FilterSramSzkB: 64
OfmapSramSzkB: 128
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Bandwidth: 16
Dataflow: {dataflow}
MemoryBanks: 1
ReadRequestBuffer: 64
WriteRequestBuffer: 64
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""


def ours(model, folder):
    """The rows of stats.json and {row: (M, N, K, how many)} of the products in them."""
    bench_host.call([HEDDLE, "run", model, "--engine=rtl", "--hw=sys16", "--stats", folder / "stats.json",
                     "--dump-ir", folder / "ir"])
    text = (folder / "ir/00_import.ir").read_text()
    shapes = {int(n): [int(v) for v in s.split(",") if v]
              for n, s in re.findall(r"^tensor (\d+) \w+ \[([\d,]*)\]", text, re.M)}
    products = {}
    for op, row, ins, out in re.findall(r"^op (\w+) row=(\d+) in=\(([\d,-]+)\) out=\((\d+)\)", text, re.M):
        y = shapes[int(out)]
        w = shapes.get(int(ins.split(",")[1])) if "," in ins else None
        if op == "conv2d":
            products[int(row)] = (y[1] * y[2], w[0], w[1] * w[2] * w[3], 1)
        elif op == "depthwise_conv2d":
            products[int(row)] = (y[1] * y[2], 1, w[1] * w[2], w[3])
        elif op == "fully_connected":
            products[int(row)] = (max(1, len(y) and y[0]), w[0], w[1], 1)
    return json.loads((folder / "stats.json").read_text()), products


def scale_sim(python, products, folder):
    """{row: cycles} of the best dataflow."""
    best = {}
    (folder / "layers.csv").write_text("Layer, M, N, K,\n" + "".join(
        f"L{row}, {m}, {n}, {k},\n" for row, (m, n, k, _) in products.items()))
    for dataflow in ("ws", "os", "is"):
        (folder / "scale.cfg").write_text(CONFIG.format(dataflow=dataflow))
        out = folder / dataflow
        bench_host.call([python, "-m", "scalesim.scale", "-c", folder / "scale.cfg", "-t", folder / "layers.csv",
                         "-l", folder / "layers.csv", "-i", "gemm", "-s", "N", "-p", out])
        with open(next(out.glob("**/COMPUTE_REPORT.csv")), encoding="utf-8") as file:
            rows = list(csv.reader(file, skipinitialspace=True))
        column = rows[0].index("Total Cycles")
        for (row, (_, _, _, times)), line in zip(products.items(), rows[1:]):
            cycles = int(float(line[column])) * times
            best[row] = min(cycles, best.get(row, cycles))
    return best


def vela(program, model, folder):
    """{tensor: NPU cycles} and their sum."""
    bench_host.call([program, model, "--accelerator-config=ethos-u55-256", "--optimise=Performance",
                     "--verbose-performance", "--output-dir", folder])
    cycles = {}
    with open(next(folder.glob("*per-layer*.csv")), encoding="utf-8") as file:
        for line in csv.DictReader(file):
            cycles[line["Name"]] = cycles.get(line["Name"], 0) + int(float(line["NPU"]))
    return cycles, sum(cycles.values())


def table(name, model, python, program):
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        stats, products = ours(model, work)
        best = scale_sim(python, products, work) if python else {}
        tensors, total = vela(program, model, work / "vela") if program else ({}, None)
    print(f"{name}\n{'layer':24} {'heddle, measured':>17} {'SCALE-Sim, est.':>16} {'Vela, est.':>11}")
    cell = lambda v: "-" if v is None else f"{v:.0f}"
    for i, l in enumerate(stats["layers"]):
        print(f"{l['name']:24} {cell(l['cycles']):>17} {cell(best.get(i)):>16} {cell(tensors.get(l['tensor'])):>11}")
    for g in stats["groups"]:
        names = [stats["layers"][i]["name"] for i in g["members"]]
        print(f"{names[0][:2] + ' to ' + names[-1][:2] + ' interleaved':24} {cell(g['cycles']):>17}")
    print(f"{'all':24} {cell(stats['cycles']):>17} {cell(sum(best.values()) if best else None):>16} "
          f"{cell(total):>11}\n", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--venv", type=pathlib.Path)
    p.add_argument("models", nargs="*")
    a = p.parse_args()
    folder = a.venv / "bin" if a.venv and str(a.venv) != "." else None
    python = folder / "python" if folder else pathlib.Path(sys.executable)
    program = folder / "vela" if folder else None
    if not python.exists() or subprocess.run([python, "-c", "import scalesim"], capture_output=True,
                                             check=False).returncode:
        print("SCALE-Sim: SKIPPED, not installed (tests/bench/requirements-peers.txt)")
        python = None
    if not program or not program.exists():
        print("Vela: SKIPPED, not installed (tests/bench/requirements-peers.txt)")
        program = None
    if not python and not program:
        sys.exit(77)
    for name, model in bench_host.find_models(a.models or ["resnet8_own"]).items():
        table(name, model, python, program)


if __name__ == "__main__":
    main()
