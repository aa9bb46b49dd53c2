"""Random SVDFs of int8 with an int16 state against the golden oracle; the state goes from step to step.

    svdf_tflite.py --heddle build/heddle [--seed 1] [--count 20] [--engine ref,func]
    svdf_tflite.py --keep DIR --seed N      one network as a folder of tests/reference/models

Two layers a network, ten steps. Exit status 1 if a byte differs. Environment: requirements-classic.txt.
"""

import subprocess
import sys

import numpy as np

import make_goldens
import tflite_writer

STEPS = 10


def layer(net, rng, name, x, batch, inputs, s_in, z_in):
    """Its output, how many values that has, their scale and zero point."""
    rank, units, memory = (int(rng.integers(1, n)) for n in (4, 9, 11))
    filters = rank * units
    s_feature, s_time = (float(np.float32(2.0 ** rng.uniform(-9, -5))) for _ in range(2))
    s_state = float(np.float32(s_in * s_feature * np.sqrt(inputs) * 2.0 ** rng.uniform(-2, 3)))
    s_out = float(np.float32(s_state * s_time * np.sqrt(memory * rank) * 2.0 ** rng.uniform(13, 18)))
    z_out = int(rng.integers(-128, 128))
    feature = net.tensor(name + "feature", (filters, inputs), np.int8, s_feature, 0,
                         data=rng.integers(-127, 128, (filters, inputs)))
    time = net.tensor(name + "time", (filters, memory), np.int16, s_time, 0,
                      data=rng.integers(-2000, 2001, (filters, memory)))
    bias = net.tensor(name + "bias", (units,), np.int32, s_state * s_time, 0,
                      data=rng.integers(-100000, 100001, units)) if rng.random() < 0.7 else -1
    state = net.tensor(name + "state", (batch, memory * filters), np.int16, s_state, 0, variable=True)
    y = net.tensor(name + "y", (batch, units), np.int8, s_out, z_out)
    net.op("SVDF", [x, feature, time, bias, state], [y], 3, "SVDFOptions", Rank=rank,
           FusedActivationFunction=1)
    return y, units, s_out, z_out


def network(seed):
    """The file, and its input at every step."""
    rng = np.random.default_rng(seed)
    net = tflite_writer.Net("heddle svdf_tflite")
    batch, inputs = int(rng.integers(1, 3)), int(rng.integers(1, 17))
    s_in, z_in = float(np.float32(2.0 ** rng.uniform(-6, -2))), int(rng.integers(-128, 128))
    x = net.tensor("x", (batch, inputs), np.int8, s_in, z_in)
    a, units, s, z = layer(net, rng, "a", x, batch, inputs, s_in, z_in)
    b = layer(net, rng, "b", a, batch, units, s, z)[0]
    return net.finish([x], [a, b]), rng.integers(-128, 128, (STEPS, batch, inputs)).astype(np.int8)


def write(folder, seed):
    folder.mkdir(parents=True, exist_ok=True)
    content, steps = network(seed)
    it = make_goldens.open_model(content)
    answers = []
    for x in steps:
        it.set_tensor(it.get_input_details()[0]["index"], x)
        it.invoke()
        answers.append([it.get_tensor(d["index"]).copy() for d in it.get_output_details()])
    (folder / "model.tflite").write_bytes(content)
    steps.tofile(folder / "in_0.bin")
    for k in range(2):
        np.stack([a[k] for a in answers]).tofile(folder / f"out_{k}.bin")


def differs(heddle, folder, engine):
    """Why heddle's outputs are others, or None."""
    done = subprocess.run([heddle, "run", str(folder / "model.tflite"), f"--engine={engine}", "-i", str(folder / "in_0.bin"),
                           "--expect", str(folder / "out_0.bin"), "--expect", str(folder / "out_1.bin")],
                          capture_output=True, text=True)
    return f"exit {done.returncode}: {done.stderr.strip()}" if done.returncode else None


if __name__ == "__main__":
    sys.exit(tflite_writer.run_seeds(__doc__, write, differs, 20, "ref,func"))
