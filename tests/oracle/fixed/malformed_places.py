"""Cases of malformed_tflite.py: REVERSE_SEQUENCE, SCATTER_ND, L2_POOL_2D and CONV_3D that must be refused."""

import numpy as np


def places(one):
    """The cases by name; `one` makes a network of one operator."""
    return {
        "reverse_sequence_type": lambda: one("REVERSE_SEQUENCE", (2, 3), (2, 3), [[2, 3]], "ReverseSequenceOptions", SeqDim=1),
        "reverse_sequence_count": lambda: one("REVERSE_SEQUENCE", (2, 3), (2, 3), [[2]], "ReverseSequenceOptions",
                                              np.uint8, SeqDim=1),
        "reverse_sequence_length": lambda: one("REVERSE_SEQUENCE", (2, 3), (2, 3), [[2, 4]], "ReverseSequenceOptions",
                                               np.uint8, SeqDim=1),
        "scatter_nd_type": lambda: one("SCATTER_ND", (2, 3), (5, 3), [[[4], [1]], [5, 3]], None, np.int16, order=[1, 0, 2]),
        "scatter_nd_again": lambda: one("SCATTER_ND", (2, 3), (5, 3), [[[4], [4]], [5, 3]], order=[1, 0, 2]),
        "scatter_nd_beyond": lambda: one("SCATTER_ND", (2, 3), (5, 3), [[[4], [5]], [5, 3]], order=[1, 0, 2]),
        "scatter_nd_depth": lambda: one("SCATTER_ND", (2,), (5, 3), [[[4, 0, 0], [5, 0, 0]], [5, 3]], order=[1, 0, 2]),
        "scatter_nd_shape": lambda: one("SCATTER_ND", (2, 3), (5, 3), [[[4], [1]], [6, 3]], order=[1, 0, 2]),
        "scatter_nd_updates": lambda: one("SCATTER_ND", (3, 3), (5, 3), [[[4], [1]], [5, 3]], order=[1, 0, 2]),
        "where_shape": lambda: one("WHERE", (2, 3), (6, 2), []),
        "l2_pool_type": lambda: one("L2_POOL_2D", (1, 4, 4, 2), (1, 4, 4, 2), [], "Pool2DOptions", FilterHeight=1, FilterWidth=1,
                                    Padding=1, StrideH=1, StrideW=1),
        "l2_pool_activation": lambda: one("L2_POOL_2D", (1, 4, 4, 2), (1, 4, 4, 2), [], "Pool2DOptions", np.float32, {}, FilterHeight=1,
                                          FilterWidth=1, FusedActivationFunction=3, Padding=1, StrideH=1, StrideW=1),
    }


def volumes(file_of):
    """The cases by name; `file_of` makes a network of one operator and constants."""
    def volume(out=(1, 2, 4, 4, 3), kernel=(2, 1, 1, 2, 3), **fields):
        return file_of((1, 3, 4, 4, 2), [(np.ones(kernel), np.float32)], out, "CONV_3D", "Conv3DOptions", kinds=(np.float32, np.float32),
                       **{"Padding": 1, "StrideD": 1, "StrideH": 1, "StrideW": 1, **fields})

    return {
        "conv_3d_depth": lambda: volume(StrideD=2),
        "conv_3d_kernel": lambda: volume((1, 1, 4, 4, 3), (4, 1, 1, 2, 3)),
        "conv_3d_stride": lambda: volume(StrideH=0),
        "conv_3d_span": lambda: volume(Padding=0, DilationDFactor=1 << 20),
        "conv_3d_weights": lambda: volume(kernel=(2, 1, 1, 3, 3)),
        "conv_3d_rows": lambda: volume((1, 2, 3, 4, 3)),
    }
