"""Write TFLite files that must be refused: wrong indices, shapes, scales, options, graphs.

    malformed_tflite.py --out DIR     writes DIR/<case>.tflite, one per function below

heddle's message for each is in tests/compiler/import/malformed/expected.txt; tests/e2e/failures/test_malformed.sh
compares. Needs the packages of requirements-classic.txt for writing; the files are kept.
"""

import argparse
import pathlib
import sys

import numpy as np
import tflite
from flatbuffers import flexbuffers

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from malformed_places import places, volumes  # noqa: E402
from tflite_writer import Net  # noqa: E402

Q = dict(scale=0.1, zero=0)
VALID = dict(Padding=tflite.Padding.VALID, StrideH=1, StrideW=1)
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def edit(items, index, **changes):
    """A tuple of the writer with some fields replaced."""
    names = ("name", "shape", "kind", "buffer", "scale", "zero", "axis", "variable", "sparse")
    items[index] = tuple(changes.get(n, v) for n, v in zip(names, items[index]))


class Conv(Net):
    """x [1,6,6,2] -> 3x3 convolution -> y [1,4,4,3], to be spoiled."""

    def __init__(self, **options):
        super().__init__("malformed")
        self.x = self.tensor("x", (1, 6, 6, 2), np.int8, **Q)
        self.w = self.tensor("w", (3, 3, 3, 2), np.int8, 0.02, 0, data=np.arange(54).reshape(3, 3, 3, 2))
        self.b = self.tensor("b", (3,), np.int32, 0.002, 0, data=np.arange(3))
        self.y = self.tensor("y", (1, 4, 4, 3), np.int8, **Q)
        self.op("CONV_2D", [self.x, self.w, self.b], [self.y], 1, "Conv2DOptions", **{**VALID, **options})

    def file(self, **changes):
        for name, spec in changes.items():
            edit(self.tensors, getattr(self, name), **spec)
        return self.finish([self.x], [self.y])


def one(op, shape, out, params=(), options=None, kind=np.int8, q=Q, outs=1, order=None, **fields):
    """A network of one operator; `params` are int32 constants after (or as `order` specifies among) its input."""
    net = Net("malformed")
    x = net.tensor("x", shape, kind, **q)
    constants = [net.tensor(f"p{i}", np.shape(p), np.int32, data=p) for i, p in enumerate(params)]
    ys = [net.tensor(f"y{i}", out, kind, **Q) for i in range(outs)]
    inputs = [x, *constants]
    net.op(op, [inputs[i] for i in order] if order else inputs, ys, 1, options, **fields)
    return net.finish([x], ys)


# -- the container -------------------------------------------------------------------------------------

@case
def empty_file():
    return b""


@case
def text_file():
    return b"this is no network\n"


@case
def eight_bytes():
    return Conv().file()[:8]


@case
def half_a_file():
    return Conv().file()[:600]


@case
def other_identifier():
    content = bytearray(Conv().file())
    content[4:8] = b"TFL9"
    return bytes(content)


@case
def root_outside():
    content = bytearray(Conv().file())
    content[:4] = b"\xff\xff\xff\x7f"
    return bytes(content)


@case
def two_subgraphs():
    net = Conv()
    return net.finish([net.x], [net.y], [(Conv(), [0], [3])])


@case
def no_operators():
    net = Net()
    x, y = (net.tensor(name, (1, 4), np.int8, **Q) for name in "xy")
    return net.finish([x], [y])


@case
def no_inputs():
    net = Conv()
    return net.finish([], [net.y])


@case
def no_outputs():
    net = Conv()
    return net.finish([net.x], [])


# -- indices and the graph -----------------------------------------------------------------------------

@case
def graph_input_beyond():
    net = Conv()
    return net.finish([99], [net.y])


@case
def graph_output_negative():
    net = Conv()
    return net.finish([net.x], [-7])


@case
def graph_input_constant():
    net = Conv()
    return net.finish([net.x, net.w], [net.y])


@case
def graph_input_twice():
    net = Conv()
    return net.finish([net.x, net.x], [net.y])


@case
def graph_output_not_computed():
    net = Conv()
    return net.finish([net.x], [net.tensor("lost", (1, 2), np.int8, **Q)])


@case
def operand_beyond():
    net = Conv()
    net.ops[0][2][1] = 1 << 30
    return net.file()


@case
def operand_negative():
    net = Conv()
    net.ops[0][2][0] = -5
    return net.file()


@case
def result_beyond():
    net = Conv()
    net.ops[0][3][0] = 4000
    return net.file()


@case
def reads_itself():
    net = Conv()
    net.op("ADD", [net.y, net.y + 1], [net.tensor("z", (1, 4, 4, 3), np.int8, **Q)], 1, "AddOptions")
    return net.finish([net.x], [net.y + 1])


@case
def cycle():
    net = Conv()
    p, q = (net.tensor(n, (1, 4, 4, 3), np.int8, **Q) for n in "pq")
    net.op("RELU", [q], [p])
    net.op("RELU", [p], [q])
    return net.finish([net.x], [net.y, q])


@case
def computed_twice():
    net = Conv()
    net.op("RELU", [net.x], [net.y])
    return net.file()


@case
def writes_input():
    net = Conv()
    net.op("RELU", [net.y], [net.x])
    return net.file()


@case
def writes_constant():
    net = Conv()
    net.op("RELU", [net.y], [net.w])
    return net.file()


@case
def no_input_of_conv():
    net = Conv()
    net.ops[0][2][0] = -1
    return net.file()


@case
def four_inputs_of_conv():
    net = Conv()
    net.ops[0][2].append(net.b)
    return net.file()


@case
def two_outputs_of_conv():
    net = Conv()
    net.ops[0][3].append(net.tensor("z", (1, 4, 4, 3), np.int8, **Q))
    return net.file()


@case
def unknown_operator():
    return one("SEGMENT_SUM", (1, 4), (1, 4))


@case
def operator_of_the_future():
    net = Conv()
    net.op(900, [net.y], [net.tensor("z", (1, 4, 4, 3), np.int8, **Q)])
    return net.finish([net.x], [net.y + 1])


# -- tensors -------------------------------------------------------------------------------------------

@case
def dimension_zero():
    return Conv().file(x=dict(shape=(1, 0, 6, 2)))


@case
def dimension_negative():
    return Conv().file(x=dict(shape=(1, -1, 6, 2)))


@case
def dimensions_giant():
    return Conv().file(x=dict(shape=(1, 65536, 65536, 2)))


@case
def dimensions_overflow():
    return Conv().file(x=dict(shape=(2147483647,) * 4))


@case
def dimensions_seven():
    return Conv().file(x=dict(shape=(1,) * 7))


@case
def buffer_beyond():
    return Conv().file(w=dict(buffer=77))


@case
def buffer_short():
    net = Conv()
    net.buffers[net.tensors[net.w][3]] = b"abc"
    return net.file()


@case
def scale_nan():
    return Conv().file(x=dict(scale=float("nan")))


@case
def scale_infinite():
    return Conv().file(y=dict(scale=float("inf")))


@case
def scale_negative():
    return Conv().file(w=dict(scale=-0.5))


@case
def scale_zero():
    return Conv().file(y=dict(scale=0.0))


@case
def no_scale():
    return Conv().file(y=dict(scale=None))


@case
def zero_point_high():
    return Conv().file(x=dict(zero=128))


@case
def zero_points_many():
    return Conv().file(x=dict(zero=[1, 2, 3]))


@case
def scales_of_activation():
    return Conv().file(x=dict(scale=[0.1, 0.2], axis=3))


@case
def scales_too_few():
    return Conv().file(w=dict(scale=[0.1, 0.2], axis=0))


@case
def scales_axis_beyond():
    return Conv().file(w=dict(scale=[0.1, 0.2, 0.3], axis=9))


@case
def scales_wrong_axis():
    return Conv().file(w=dict(scale=[0.1, 0.2, 0.3], axis=1))


@case
def name_is_code():
    return Conv().file(y=dict(shape=(1, 4, 4, 9), name="*/ system(\"rm\"); <b>%s%n</b> \x1b[31m\n/*"))


# -- convolutions --------------------------------------------------------------------------------------

@case
def conv_without_options():
    net = Conv()
    net.ops[0] = net.ops[0][:4] + (None, {})
    return net.file()


@case
def conv_stride_zero():
    return Conv(StrideH=0).file()


@case
def conv_dilation_negative():
    return Conv(DilationWFactor=-3).file()


@case
def conv_padding_unknown():
    return Conv(Padding=7).file()


@case
def conv_activation_unknown():
    return Conv(FusedActivationFunction=4).file()


@case
def conv_kernel_too_large():
    return Conv(DilationHFactor=40).file()


@case
def conv_output_shape():
    return Conv().file(y=dict(shape=(1, 5, 4, 3)))


@case
def conv_weights_of_uint8():
    return Conv().file(w=dict(kind=np.dtype(np.uint8)))


@case
def conv_weights_computed():
    net = Conv()
    edit(net.tensors, net.w, buffer=0)
    return net.finish([net.x, net.w], [net.y])


@case
def conv_bias_length():
    net = Conv()
    net.buffers[net.tensors[net.b][3]] = bytes(20)
    return net.file(b=dict(shape=(5,)))


@case
def conv_groups_odd():
    net = Conv()
    edit(net.tensors, net.x, shape=(1, 6, 6, 3))
    return net.file()


@case
def depthwise_multiplier():
    net = Conv()
    net.ops[0] = ("DEPTHWISE_CONV_2D",) + net.ops[0][1:4] + ("DepthwiseConv2DOptions", VALID)
    net.buffers[net.tensors[net.w][3]] = bytes(27)
    return net.file(w=dict(shape=(1, 3, 3, 3)))


# -- other operators -----------------------------------------------------------------------------------

@case
def hybrid_weights():
    net = Net()
    x, y = (net.tensor(n, (1, 4), np.float32) for n in "xy")
    w = net.tensor("w", (4, 4), np.uint8, 0.02, 0, data=np.arange(16).reshape(4, 4))
    net.op("FULLY_CONNECTED", [x, w], [y], 1, "FullyConnectedOptions")
    return net.finish([x], [y])


@case
def hybrid_conv():
    return Conv().file(x=dict(kind=np.dtype(np.float32)), y=dict(kind=np.dtype(np.float32)))


@case
def hybrid_matmul():
    net = Net()
    x, y = (net.tensor(n, (4, 4), np.float32) for n in "xy")
    w = net.tensor("w", (4, 4), np.int8, 0.02, 0, data=np.arange(16).reshape(4, 4))
    net.op("BATCH_MATMUL", [x, w], [y], 1, "BatchMatMulOptions", AdjX=True)
    return net.finish([x], [y])


# Zero points that the reference refuses (CONV_2D) or does not subtract.

@case
def conv_weights_zero():
    return Conv().file(w=dict(zero=5))


@case
def depthwise_weights_zero():
    net = Conv()
    net.ops[0] = ("DEPTHWISE_CONV_2D",) + net.ops[0][1:4] + ("DepthwiseConv2DOptions", VALID)
    net.buffers[net.tensors[net.w][3]] = bytes(18)
    net.buffers[net.tensors[net.b][3]] = bytes(8)
    return net.file(w=dict(shape=(1, 3, 3, 2), zero=-5), b=dict(shape=(2,)), y=dict(shape=(1, 4, 4, 2)))


@case
def dense_weights_zero():
    """One scale per channel; with one for all the reference does subtract."""
    net = Net()
    x, y = (net.tensor(n, (1, 4), np.int8, **Q) for n in "xy")
    w = net.tensor("w", (4, 4), np.int8, [0.02] * 4, 5, data=np.arange(16).reshape(4, 4))
    net.op("FULLY_CONNECTED", [x, w], [y], 1, "FullyConnectedOptions")
    return net.finish([x], [y])


@case
def softmax_beta_nan():
    return one("SOFTMAX", (1, 4), (1, 4), options="SoftmaxOptions", Beta=float("nan"))


@case
def leaky_alpha_infinite():
    return one("LEAKY_RELU", (1, 4), (1, 4), options="LeakyReluOptions", Alpha=float("inf"))


@case
def mean_axis_beyond():
    return one("MEAN", (1, 4), (1,), [[7]], "ReducerOptions")


@case
def reshape_elements():
    return one("RESHAPE", (1, 4), (1, 5), [[1, 5]])


@case
def pad_negative():
    return one("PAD", (1, 4), (1, 3), [[[0, 0], [-1, 0]]])


@case
def transpose_twice():
    return one("TRANSPOSE", (2, 3), (2, 2), [[0, 0]])


@case
def slice_beyond():
    return one("SLICE", (1, 4), (1, 4), [[0, 2], [1, 4]])


@case
def split_axis_beyond():
    return one("SPLIT", (1, 4), (1, 2), [5], "SplitOptions", outs=2, order=[1, 0], NumSplits=2)


@case
def split_sum():
    return one("SPLIT", (1, 4), (1, 3), [1], "SplitOptions", outs=2, order=[1, 0], NumSplits=2)


@case
def gather_index_beyond():
    return one("GATHER", (4, 2), (2, 2), [[0, 9]], "GatherOptions")


@case
def strided_slice_step_zero():
    return one("STRIDED_SLICE", (4, 2), (4, 2), [[0, 0], [4, 2], [0, 1]], "StridedSliceOptions")


@case
def concat_axis_beyond():
    return one("CONCATENATION", (1, 4), (1, 4), options="ConcatenationOptions", Axis=-3)


@case
def concat_scales():
    return one("CONCATENATION", (1, 4), (1, 4), options="ConcatenationOptions", q=dict(scale=0.2, zero=3))


@case
def depth_to_space_block():
    return one("DEPTH_TO_SPACE", (1, 2, 2, 8), (1, 6, 6, 1), options="DepthToSpaceOptions", BlockSize=3)


@case
def space_to_batch_block():
    return one("SPACE_TO_BATCH_ND", (1, 4, 4, 2), (4, 2, 2, 2), [[0, 2], [[0, 0], [0, 0]]])


@case
def mirror_pad_too_wide():
    return one("MIRROR_PAD", (1, 4), (1, 12), [[[0, 0], [4, 4]]], "MirrorPadOptions")


@case
def tile_giant():
    return one("TILE", (1, 4), (1, 4), [[1 << 20, 1 << 20]])


@case
def arg_max_type():
    return one("ARG_MAX", (1, 4), (1,), [1])


@case
def read_of_no_variable():
    return one("READ_VARIABLE", (1, 4), (1, 4))


@case
def call_once_beyond():
    net = Conv()
    net.op("CALL_ONCE", [], [], 1, "CallOnceOptions", InitSubgraphIndex=4)
    return net.file()


class Lstm(Net):
    """x [1,3,2] -> an LSTM of two cells, to be spoiled: `changes` of tensors by name, `inputs` by number."""

    def __init__(self, inputs=None, changes=None, intermediates=5, **options):
        super().__init__("malformed")
        bias = [self.tensor(f"b{k}", (2,), np.int32, 0.002, data=np.zeros(2)) for k in range(4)]
        weights = [self.tensor(f"w{k}", (2, 2), np.int8, 0.02, data=np.ones((2, 2))) for k in range(8)]
        self.x, self.y = self.tensor("x", (1, 3, 2), np.int8, **Q), self.tensor("y", (1, 3, 2), np.int8, 1 / 128, 0)
        h = self.tensor("h", (1, 2), np.int8, 1 / 128, 0, variable=True)
        c = self.tensor("c", (1, 2), np.int16, 2.0**-12, 0, variable=True)
        inner = [self.tensor(f"i{k}", (0,), np.int8, 1 / 128, 0) for k in range(intermediates)]
        every = [self.x, *weights, -1, -1, -1, *bias, -1, -1, h, c, -1, -1, -1, -1]
        for i, t in (inputs or {}).items():
            every[i] = t
        by_name = {t[0]: k for k, t in enumerate(self.tensors)}
        for name, spec in (changes or {}).items():
            edit(self.tensors, by_name[name], **spec)
        tanh = tflite.ActivationFunctionType.TANH
        self.op("UNIDIRECTIONAL_SEQUENCE_LSTM", every, [self.y], 1, "UnidirectionalSequenceLSTMOptions",
                intermediates=inner, **{"FusedActivationFunction": tanh, **options})

    def file(self):
        return self.finish([self.x], [self.y])


for _name, _args in {
        "lstm_activation": dict(FusedActivationFunction=1),
        "lstm_clip": dict(CellClip=-1.0),
        "lstm_peephole": dict(inputs={9: 0}),
        "lstm_projection": dict(inputs={16: 4}),
        "lstm_layer_norm": dict(inputs={20: 0}),
        "lstm_no_input_gate": dict(inputs={1: -1}),
        "lstm_float": dict(changes={"x": dict(kind=np.dtype(np.float32))}),
        "lstm_weights_type": dict(changes={"w0": dict(kind=np.dtype(np.uint8))}),
        "lstm_weights_zero": dict(changes={"w5": dict(zero=3)}),
        "lstm_weights_shape": dict(changes={"w1": dict(shape=(1, 4))}),
        "lstm_recurrent_shape": dict(changes={f"w{k}": dict(shape=(1, 4)) for k in range(4, 8)}),
        "lstm_computed_weights": dict(inputs={3: 12}, changes={"x": dict(shape=(2, 2))}),
        "lstm_state": dict(changes={"h": dict(variable=False)}),
        "lstm_cell_scale": dict(changes={"c": dict(scale=0.001)}),
        "lstm_cell_type": dict(changes={"c": dict(kind=np.dtype(np.int8))}),
        "lstm_hidden_scale": dict(changes={"i4": dict(scale=-0.5)}),
        "lstm_intermediates": dict(intermediates=4),
        "lstm_batch": dict(TimeMajor=True),
        "lstm_diagonal": dict(Field5=1)}.items():
    CASES[_name] = lambda args=_args: Lstm(**args).file()


class Svdf(Net):
    """x [1,3] -> SVDF of 2 units of rank 2 and 4 steps -> y [1,2], to be spoiled."""

    def __init__(self, changes=None, rank=2, activation=1, computed=False):
        super().__init__("malformed")
        rng = np.random.default_rng(1)
        self.x = self.tensor("x", (1, 3), np.int8, **Q)
        feature = self.tensor("feature", (4, 3), np.int8, 0.02, 0, data=rng.integers(-9, 9, (4, 3)))
        time = self.tensor("time", (4, 4), np.int16, 0.001, 0,
                           data=None if computed else rng.integers(-9, 9, (4, 4)))
        bias = self.tensor("bias", (2,), np.int32, data=[1, 2])
        state = self.tensor("state", (1, 16), np.int16, 0.01, 0, variable=True)
        self.y = self.tensor("y", (1, 2), np.int8, **Q)
        by_name = {t[0]: k for k, t in enumerate(self.tensors)}
        for name, spec in (changes or {}).items():
            edit(self.tensors, by_name[name], **spec)
        self.op("SVDF", [self.x, feature, time, bias, state], [self.y], 3, "SVDFOptions", Rank=rank,
                FusedActivationFunction=activation)
        self.ins = [self.x, time] if computed else [self.x]

    def file(self):
        return self.finish(self.ins, [self.y])


for _name, _args in {
        "svdf_activation": dict(activation=0),
        "svdf_rank": dict(rank=3),
        "svdf_float": dict(changes={"x": dict(kind=np.dtype(np.float32))}),
        "svdf_weights_zero": dict(changes={"feature": dict(zero=1)}),
        "svdf_state_shape": dict(changes={"state": dict(shape=(1, 12))}),
        "svdf_input_shape": dict(changes={"x": dict(shape=(1, 4))}),
        "svdf_computed_weights": dict(computed=True)}.items():
    CASES[_name] = lambda args=_args: Svdf(**args).file()


def detection(boxes=(1, 5, 4), scores=(1, 5, 3), anchors=5, results=3, options=None, computed=False, kind=np.float32, q=None,
              **changes):
    """TFLite_Detection_PostProcess, to be spoiled."""
    values = {"max_detections": 3, "max_classes_per_detection": 1, "num_classes": 2, "nms_score_threshold": 0.1,
              "nms_iou_threshold": 0.5, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0, **changes}
    net = Net("malformed")
    x = [net.tensor(n, s, kind, **(q or {})) for n, s in (("boxes", boxes), ("scores", scores))]
    a = net.tensor("anchors", (anchors, 4), np.float32, data=None if computed else np.ones((anchors, 4)))
    y = [net.tensor(f"y{k}", s, np.float32) for k, s in
         enumerate([(1, results, 4), (1, results), (1, results), (1,)])]
    net.op("CUSTOM:TFLite_Detection_PostProcess", [*x, a], y, 1, custom=options or bytes(flexbuffers.Dumps(values)))
    return net.finish([*x, a] if computed else x, y)


for _name, _args in {
        "detection_options": dict(options=b"no map of any kind"),
        "detection_regular": dict(use_regular_nms=True),
        "detection_none": dict(max_detections=0),
        "detection_huge": dict(max_detections=3e38),
        "detection_many": dict(max_detections=4096, max_classes_per_detection=4096),
        "detection_threshold": dict(nms_iou_threshold=-0.5),
        "detection_boxes": dict(boxes=(1, 5, 3)),
        "detection_anchors": dict(anchors=4),
        "detection_computed_anchors": dict(computed=True),
        "detection_scores": dict(scores=(1, 5, 4)),
        "detection_results": dict(results=4),
        "detection_no_scale": dict(kind=np.int8)}.items():
    CASES[_name] = lambda args=_args: detection(**args)


IMAGE = (1, 4, 4, 2)
RELU = tflite.ActivationFunctionType.RELU


def file_of(shape, constants, out, op, options=None, order=None, kinds=(np.int8, np.int8), **fields):
    """A network of one operator; `constants` are (array, type or None for int32) after its input."""
    net = Net("malformed")
    x = net.tensor("x", shape, kinds[0], **Q)
    ids = [x]
    for i, (value, kind) in enumerate(constants):
        ids.append(net.tensor(f"p{i}", np.shape(value), kind or np.int32, *((0.1, 0) if kind else ()), data=value))
    y = net.tensor("y", out, kinds[1], **Q)
    net.op(op, [ids[i] for i in order] if order else ids, [y], 1, options, **fields)
    return net.finish([x], [y])


def strided(begin, end, step, out=(4, 2), **masks):
    return one("STRIDED_SLICE", (4, 2), out, [begin, end, step], "StridedSliceOptions", **masks)


def tconv(shape, out=(1, 8, 8, 3), **fields):
    weights = (np.ones((3, 2, 2, 2)), np.int8)
    return file_of(IMAGE, [(shape, None), weights], out, "TRANSPOSE_CONV", "TransposeConvOptions", (1, 2, 0),
                   **{"StrideH": 2, "StrideW": 2, **fields})


def tconv_zero():
    net = Net("malformed")
    x = net.tensor("x", IMAGE, np.int8, **Q)
    w = net.tensor("w", (3, 2, 2, 2), np.int8, 0.02, 5, data=np.ones((3, 2, 2, 2)))
    y = net.tensor("y", (1, 8, 8, 3), np.int8, **Q)
    shape = net.tensor("shape", (4,), np.int32, data=[1, 8, 8, 3])
    net.op("TRANSPOSE_CONV", [shape, w, x], [y], 1, "TransposeConvOptions", StrideH=2, StrideW=2)
    return net.finish([x], [y])


def pot_add():
    """Scales that are powers of two and the format's default."""
    net = Net("malformed")
    x, y = (net.tensor(n, (1, 4), np.int16, 2.0**-10, 0) for n in "xy")
    net.op("ADD", [x, x], [y], 1, "AddOptions", PotScaleInt16=True)
    return net.finish([x], [y])


def absent_weights():
    net = Conv()
    net.ops[0] = (*net.ops[0][:2], [net.x, -1, net.b], *net.ops[0][3:])
    return net.file()


def resource_input():
    net = Conv()
    return net.file(x=dict(kind="resource"))


def variable_operand():
    net = Conv()
    return net.file(w=dict(variable=True))


def several(op, inputs, out, scale=None):
    """`inputs`: a type, a scale and maybe a shape of each; an output of `out`."""
    net = Net("malformed")
    xs = [net.tensor(f"x{i}", *(shape or [(2, 4)]), kind, q) for i, (kind, q, *shape) in enumerate(inputs)]
    y = net.tensor("y", (2, 4), out, scale)
    net.op(op, xs, [y])
    return net.finish(xs, [y])


def top_k(k):
    net = Net("malformed")
    x, n = net.tensor("x", (1, 4), np.int8, **Q), net.tensor("k", (), np.int32, data=k)
    ys = [net.tensor("y", (1, 2), np.int8, **Q), net.tensor("i", (1, 2), np.int32)]
    net.op("TOPK_V2", [x, n], ys)
    return net.finish([x], ys)


def one_hot(depth):
    net = Net("malformed")
    x, n = net.tensor("x", (3,), np.int32), net.tensor("depth", (), np.int32, data=depth)
    on, off = (net.tensor(f"v{v}", (), np.int32, data=v) for v in (1, 0))
    y = net.tensor("y", (3, 4), np.int32)
    net.op("ONE_HOT", [x, n, on, off], [y], 1, "OneHotOptions", Axis=-1)
    return net.finish([x], [y])


def consts(op, values, out, kind):
    """An operator of constants alone, next to a RELU that makes it a network."""
    net = Net("malformed")
    x, z = net.tensor("x", (1, 4), np.int8, **Q), net.tensor("z", (1, 4), np.int8, **Q)
    y = net.tensor("y", out, kind)
    net.op(op, [net.tensor(f"p{i}", np.shape(v), np.int32, data=v) for i, v in enumerate(values)], [y])
    net.op("RELU", [x], [z])
    return net.finish([x], [y, z])


for _name, _build in {
        **places(one), **volumes(file_of),
        "arg_max_axes": lambda: one("ARG_MAX", (1, 4), (1,), [[1, 0]]),
        "transpose_conv_shape": lambda: tconv([1, 7, 8, 3]),
        "transpose_conv_strides": lambda: tconv([1, 8, 8, 3], StrideH=0),
        "transpose_conv_weights_zero": tconv_zero,
        "depth_to_space_rank": lambda: one("DEPTH_TO_SPACE", (2, 8), (4, 4), options="DepthToSpaceOptions", BlockSize=2),
        "space_to_batch_rank": lambda: one("SPACE_TO_BATCH_ND", (4, 4), (8, 2), [[2], [[0, 0]]]),
        "space_to_batch_edges": lambda: one("SPACE_TO_BATCH_ND", IMAGE, (4, 2, 2, 2), [[2, 2], [[0, 0], [0, -1]]]),
        "mirror_pad_count": lambda: one("MIRROR_PAD", (1, 4), (1, 6), [[[1, 1]]], "MirrorPadOptions"),
        "resize_nearest_size": lambda: one("RESIZE_NEAREST_NEIGHBOR", IMAGE, (1, 8, 8, 2), [[8]],
                                           "ResizeNearestNeighborOptions"),
        "resize_bilinear_size": lambda: one("RESIZE_BILINEAR", IMAGE, (1, 8, 8, 2), [[8, 9]], "ResizeBilinearOptions"),
        "broadcast_to_shape": lambda: one("BROADCAST_TO", (1, 4), (2, 3), [[2, 3]]),
        "shape_type": lambda: one("SHAPE", (1, 4), (2,)),
        "add_int16_shifts": pot_add,
        "conv_weights_absent": absent_weights,
        "dense_shuffled": lambda: file_of((1, 4), [(np.ones((4, 4)), np.int8)], (1, 4), "FULLY_CONNECTED",
                                          "FullyConnectedOptions", WeightsFormat=1),
        "concat_activation": lambda: one("CONCATENATION", (1, 4), (1, 4), options="ConcatenationOptions", Axis=1,
                                         FusedActivationFunction=RELU),
        "options_field_new": lambda: Conv(Field7=0, Field8=1).file(),
        "dense_int32_sums": lambda: file_of((1, 4), [(np.ones((4, 4)), np.int8), (np.ones(4), np.int64)], (1, 4), "FULLY_CONNECTED",
                                            "FullyConnectedOptions", kinds=(np.int16, np.int16), Field4=2),
        "l2_norm_activation": lambda: one("L2_NORMALIZATION", (1, 4), (1, 4), options="L2NormOptions",
                                          FusedActivationFunction=RELU),
        "logistic_scale": lambda: one("LOGISTIC", (1, 4), (1, 4)),
        "logistic_scale_int16": lambda: file_of((1, 4), [], (1, 4), "LOGISTIC", kinds=(np.int16, np.int16)),
        "log_softmax_scale": lambda: one("LOG_SOFTMAX", (1, 4), (1, 4)),
        "square_of_codes": lambda: one("SQUARE", (1, 4), (1, 4)),
        "reshape_parameter": lambda: one("RESHAPE", (1, 4), (2, 2), [[4, 1]]),
        "reshape_option": lambda: one("RESHAPE", (1, 4), (2, 2), options="ReshapeOptions", NewShape=[4, -1]),
        "pad_count": lambda: one("PAD", (1, 4), (1, 6), [[[1, 1]]]),
        "transpose_count": lambda: one("TRANSPOSE", (2, 3), (3, 2), [[1]]),
        "slice_count": lambda: one("SLICE", (1, 4), (1, 2), [[0], [2]]),
        "slice_size": lambda: one("SLICE", (1, 4), (1, 2), [[0, 1], [1, 3]]),
        "split_outputs": lambda: one("SPLIT", (1, 4), (1, 2), [1], "SplitOptions", outs=2, order=[1, 0], NumSplits=3),
        "split_sizes": lambda: one("SPLIT_V", (1, 4), (1, 2), [[3, 1], 1], "SplitVOptions", outs=2, NumSplits=2),
        "pack_rank": lambda: one("PACK", (1, 4), (1, 4), options="PackOptions", ValuesCount=1, Axis=0),
        "strided_slice_counts": lambda: strided([0, 0], [4], [1, 1]),
        "strided_slice_many": lambda: strided([0, 0, 0], [4, 2, 1], [1, 1, 1]),
        "strided_slice_dropped": lambda: strided([7, 0], [8, 2], [1, 1], (2,), ShrinkAxisMask=1),
        "strided_slice_empty": lambda: strided([2, 0], [2, 2], [1, 1]),
        "gather_batches": lambda: one("GATHER", (4, 2), (4, 2), [[0, 1]], "GatherOptions", BatchDims=1),
        "tile_count": lambda: one("TILE", (1, 4), (1, 8), [[2]]),
        "parameter_type": lambda: file_of((2, 3), [([1.0, 0.0], np.float32)], (3, 2), "TRANSPOSE"),
        "parameter_wide": lambda: file_of((1, 4), [([1 << 40, 4], np.int64)], (1, 4), "RESHAPE", "ReshapeOptions"),
        "type_unknown": resource_input,
        "variable_read": variable_operand,
        "lstm_no_state": lambda: Lstm(inputs={18: -1}).file(),
        "compare_types": lambda: several("EQUAL", [(np.int8, 0.5), (np.uint8, 0.5)], np.bool_),
        "compare_bools": lambda: several("LESS", [(np.bool_, None)] * 2, np.bool_),
        "compare_int16_scales": lambda: several("EQUAL", [(np.int16, 0.5), (np.int16, 0.25)], np.bool_),
        "compare_result": lambda: several("LESS", [(np.int8, 0.5)] * 2, np.int32),
        "logical_codes": lambda: several("LOGICAL_AND", [(np.bool_, None), (np.int8, 0.5)], np.bool_),
        "select_condition": lambda: several("SELECT_V2", [(np.int8, 0.5)] * 3, np.int8, 0.5),
        "select_scale": lambda: several("SELECT", [(np.bool_, None), (np.int8, 0.5), (np.int8, 0.25)], np.int8, 0.5),
        "select_shapes": lambda: several("SELECT_V2", [(np.bool_, None, (3,)), (np.int8, 0.5), (np.int8, 0.5)], np.int8, 0.5),
        "gather_batches_shape": lambda: one("GATHER", (4, 2), (4, 1), [[[0], [1], [0]]], "GatherOptions", Axis=1, BatchDims=1),
        "gather_nd_depth": lambda: one("GATHER_ND", (4, 2), (1,), [[[0, 1, 0]]]),
        "gather_nd_beyond": lambda: one("GATHER_ND", (4, 2), (1,), [[[3, 2]]]),
        "update_slice_part": lambda: one("DYNAMIC_UPDATE_SLICE", (4, 2), (4, 2), [[[0, 1]], [0, 0]]),
        "update_slice_rank": lambda: several("DYNAMIC_UPDATE_SLICE", [(np.int8, 0.5), (np.int8, 0.5, (4,)), (np.int32, None, (2,))],
                                             np.int8, 0.5),
        "update_slice_larger": lambda: several("DYNAMIC_UPDATE_SLICE", [(np.int8, 0.5), (np.int8, 0.5, (2, 5)), (np.int32, None, (2,))],
                                               np.int8, 0.5),
        "update_slice_start": lambda: several("DYNAMIC_UPDATE_SLICE", [(np.int8, 0.5), (np.int8, 0.5), (np.int32, None, (3,))],
                                              np.int8, 0.5),
        "update_slice_start_type": lambda: several("DYNAMIC_UPDATE_SLICE", [(np.int8, 0.5), (np.int8, 0.5), (np.int8, 0.5, (2,))],
                                                   np.int8, 0.5),
        "reduce_any_codes": lambda: one("REDUCE_ANY", (1, 4), (1,), [[1]], "ReducerOptions"),
        "top_k_count": lambda: top_k(3),
        "top_k_outputs": lambda: one("TOPK_V2", (1, 4), (1, 2), [2]),
        "one_hot_depth": lambda: one_hot(5),
        "add_n_codes": lambda: several("ADD_N", [(np.int8, 0.5)] * 2, np.int8, 0.5),
        "fill_outputs": lambda: one("FILL", (2,), (2, 4), [1], outs=2, kind=np.int32, q={}),
        "range_values": lambda: consts("RANGE", [[0, 1], 4, 1], (4,), np.int32),
        "range_type": lambda: consts("RANGE", [0, 4, 1], (4,), np.float32),
        "select_short_condition": lambda: several("SELECT", [(np.bool_, None, (3,)), (np.int8, 0.5), (np.int8, 0.5)], np.int8, 0.5)
        }.items():
    CASES[_name] = _build


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", type=pathlib.Path, required=True)
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "../bias_scale.tflite").write_bytes(Conv().file(b=dict(scale=0.5)))  # a note
    for name, build in CASES.items():
        (args.out / f"{name}.tflite").write_bytes(build())
    print(f"{len(CASES)} files in {args.out}")


if __name__ == "__main__":
    main()
