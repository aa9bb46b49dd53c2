"""Shared by the scripts that train models: seeds, int8 conversion, files of samples.

Needs the packages of requirements-train.txt. The goldens are not made here but by
tests/oracle/make_goldens.py, which runs in another environment.
"""

import hashlib
import json
import os
import pathlib

# One process, one thread: the order of float additions, and so the weights, stay the same.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf


def seed_everything(seed):
    """Seed Python, numpy and TensorFlow; make TensorFlow's kernels deterministic."""
    tf.keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()
    for setter in (tf.config.threading.set_intra_op_parallelism_threads,
                   tf.config.threading.set_inter_op_parallelism_threads):
        try:
            setter(1)
        except RuntimeError:
            pass  # TensorFlow is already running: an earlier call has set it


def fixed_batch(model):
    """The same keras model with a batch dimension of 1, so that no operator sees a shape at run time."""
    inp = tf.keras.Input(batch_shape=(1,) + tuple(model.input_shape[1:]), name="input")
    return tf.keras.Model(inp, model(inp))


def converter(model):
    fixed = fixed_batch(model)
    fn = tf.function(lambda x: fixed(x, training=False))
    concrete = fn.get_concrete_function(tf.TensorSpec(fixed.inputs[0].shape, tf.float32, name="input"))
    return tf.lite.TFLiteConverter.from_concrete_functions([concrete], fixed)


def to_float(model):
    """Convert a keras model to a float32 TFLite file; returns its bytes."""
    return converter(model).convert()


def to_int8(model, calibration, per_channel=True):
    """Convert a keras model to an all-int8 TFLite file.

    calibration : float32 [n, ...], the images whose ranges set the scales
    per_channel : one weight scale per output channel (convolutions), else per tensor
    Returns the bytes of the file.
    """
    conv = converter(model)
    conv.optimizations = [tf.lite.Optimize.DEFAULT]
    conv.representative_dataset = lambda: ([x[None].astype(np.float32)] for x in calibration)
    conv.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    conv.inference_input_type = tf.int8
    conv.inference_output_type = tf.int8
    conv._experimental_disable_per_channel = not per_channel
    return conv.convert()


def describe(content):
    """(operator names in order, tensor details, input detail, output detail) of a TFLite file."""
    it = tf.lite.Interpreter(model_content=content,
                             experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    it.allocate_tensors()
    ops = [op["op_name"] for op in it._get_ops_details()]
    return ops, it.get_tensor_details(), it.get_input_details()[0], it.get_output_details()[0]


def check_ops(content, allowed):
    """Stop if the converter used an operator outside `allowed` or a batch other than 1."""
    ops, _, inp, _ = describe(content)
    extra = sorted(set(ops) - set(allowed))
    if extra:
        raise SystemExit(f"converter used {extra}; allowed are {sorted(allowed)}")
    if inp["shape"][0] != 1 or inp["shape_signature"][0] != 1:
        raise SystemExit(f"batch is {inp['shape_signature'][0]}, want 1")
    return ops


def quantise_input(content, x):
    """Float inputs to the int8 values that the model expects (round half to even, clamped)."""
    scale, zero = describe(content)[2]["quantization"]
    return np.clip(np.rint(x / scale) + zero, -128, 127).astype(np.int8)


def write_model(folder, content, inputs, meta, labels=None, classes=None):
    """Write model.tflite, in_0.bin, labels.txt, classes.txt and the first half of meta.json.

    inputs : int8 [n, ...]; all samples go into in_0.bin one after another.
    make_goldens.py adds the rest of meta.json (shapes, scales, histogram, MACs, oracle).
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.tflite").write_bytes(content)
    inputs.tofile(folder / "in_0.bin")
    if labels is not None:
        (folder / "labels.txt").write_text("".join(f"{v}\n" for v in labels))
    if classes is not None:
        (folder / "classes.txt").write_text("".join(f"{c}\n" for c in classes))
    meta = dict(meta, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")
