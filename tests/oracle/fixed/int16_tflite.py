"""Write tests/reference/models/int16_borders: float32 to int16, TANH, back to float32 and down to int8.

    int16_tflite.py FOLDER

Environment: requirements-classic.txt.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import make_goldens  # noqa: E402
from tflite_writer import Net  # noqa: E402

SHAPE = (1, 3, 4, 4)
SCALE = 0.013


def main():
    folder = pathlib.Path(sys.argv[1])
    net = Net("heddle int16_tflite")
    x = net.tensor("x", SHAPE, np.float32)
    q = net.tensor("q", SHAPE, np.int16, SCALE, 0)
    t = net.tensor("tanh", SHAPE, np.int16, 1 / 32768, 0)
    y = net.tensor("y", SHAPE, np.float32)
    z = net.tensor("z", SHAPE, np.int8, 0.9, -3)
    net.op("QUANTIZE", [x], [q], 2, "QuantizeOptions")
    net.op("TANH", [q], [t], 2)
    net.op("DEQUANTIZE", [t], [y], 3, "DequantizeOptions")
    net.op("QUANTIZE", [q], [z], 2, "QuantizeOptions")
    content = net.finish([x], [y, q, z])

    samples = np.random.default_rng(3).normal(0, 1, (20, *SHAPE)).astype(np.float32)
    samples[0] *= 300                                # beyond the quantised values
    samples[1] *= SCALE
    samples[2] = np.round(samples[2]) * SCALE / 2    # halves
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(content)
    samples.tofile(folder / "in_0.bin")
    for k, out in enumerate(make_goldens.run(make_goldens.open_model(content), [samples])):
        out.tofile(folder / f"out_{k}.bin")
    return 0


if __name__ == "__main__":
    sys.exit(main())
