"""The table of docs/PYTORCH.md: each way, each network: MACs on the accelerator, cycles, and noise against the float network,
of heddle's answers and of those of the way's own runtime.

    torch_table.py --heddle build/heddle [--ways torch_qdq,..] [--networks resnet18:64,..] [--keep FOLDER]

A way is a script of this folder that writes net.onnx, net.tflite or net.tosa, x.npy, the runtime's answers y.npy and
the float network's real.npy, for quantised outputs scale.npy. Exit status 1 if heddle refuses a network, its engines differ, a MAC is left to the host, or heddle's
signal to noise is more than 3 dB below the runtime's; 77 without torch. The environment is requirements-torch.txt's; torch_litert.py needs
requirements-litert.txt's, torch_tosa.py requirements-executorch.txt's.
"""

import argparse
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

NETWORKS = ("resnet18:64,mobilenet_v2:64,mobilenet_v3_small:64,efficientnet_b0:64,shufflenet_v2_x0_5:64,squeezenet1_1:64,"
            "mnasnet0_5:64,timm/convnext_atto:64,timm/vit_tiny_patch16_224:64,timm/mobilevit_xxs:64,timm/edgenext_xx_small:64")
if not importlib.util.find_spec("torch"):
    print("SKIPPED: no torch")
    sys.exit(77)
import numpy as np  # noqa: E402


def noise(want, found):
    """Signal to noise in dB."""
    want = want.astype(np.float64)
    error = float(((want - found) ** 2).sum())
    return 99.9 if error == 0 else 10 * np.log10(float((want ** 2).sum()) / error)


def row(args, way, name, size, folder):
    here = pathlib.Path(__file__).parent
    made = subprocess.run([sys.executable, here / f"{way[0]}.py", name, size, folder, *way[1:]], capture_output=True, text=True)
    if made.returncode:
        return f"not written: {made.stderr.strip().splitlines()[-1]}", True
    net = next(p for p in (folder / "net.onnx", folder / "net.tflite", folder / "net.tosa") if p.exists())
    done = subprocess.run([args.heddle, "run", net, "-i", folder / "x.npy", "--engine=func", "-o", folder / "ran",
                           *(["--tosa-rounding=double"] if net.suffix == ".tosa" else [])], capture_output=True, text=True)
    text = done.stdout + done.stderr
    (folder / "log").write_text(text)
    cycles = re.search(r"about (\d+) cycles each on the accelerator \(estimate\) and (\d+) on the host", text)
    macs = re.search(r"(\d+) MACs, ([\d.]+) % on the accelerator(?:, ([\d.]+) % folded away)?", text)
    if done.returncode or not cycles or not macs:
        return text.strip()[:400], True
    real, theirs = (np.load(folder / name) for name in ("real.npy", "y.npy"))
    found = np.fromfile(sorted((folder / "ran").glob("out_*"))[0], theirs.dtype).reshape(theirs.shape)
    scale, zero = np.load(folder / "scale.npy") if (folder / "scale.npy").exists() else (1, 0)
    own, host, ours, theirs = int(cycles[1]), int(cycles[2]), *(noise(real, (v - zero) * scale) for v in (found, theirs))
    return (f"{int(macs[1]) / 1e6:.1f} M | {float(macs[2]) + float(macs[3] or 0):.1f} % | {own} | {100 * host / (own + host):.1f} % | {ours:.1f} | {theirs:.1f}",
            float(macs[2]) + float(macs[3] or 0) < 99.95 or ours < theirs - 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default="build/heddle")
    parser.add_argument("--ways", default="torch_qdq")
    parser.add_argument("--networks", default=NETWORKS)
    parser.add_argument("--keep", type=pathlib.Path, help="keep the files here")
    args = parser.parse_args()
    failed = False
    print("| way | network | MACs | array | cycles | host | heddle, dB | runtime, dB |\n|---|---|---|---|---|---|---|---|")
    for way in args.ways.split(","):
        for name, size in (n.split(":") for n in args.networks.split(",")):
            with tempfile.TemporaryDirectory() as work:
                folder = (args.keep or pathlib.Path(work)) / way.replace(" ", "") / name.replace("/", "_")
                folder.mkdir(parents=True, exist_ok=True)
                text, bad = row(args, way.split(), name, size, folder)
            print(f"| {way} | {name} {size} | {text} |", flush=True)
            failed |= bad
    return 1 if failed else 0


sys.exit(main())
