#!/usr/bin/env python3
"""time_runtime.py RUNTIME MODEL ROUNDS: the best of ROUNDS inferences in nanoseconds, one thread.

RUNTIME: litert (built-in kernels, no delegate), xnnpack (LiteRT's default), tflm (tflite-micro).
"""
import sys
import time

import numpy as np


def litert(path, kind):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    resolver = OpResolverType.BUILTIN if kind == "xnnpack" else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    net = Interpreter(path, experimental_op_resolver_type=resolver, num_threads=1)
    net.allocate_tensors()
    for d in net.get_input_details():
        net.set_tensor(d["index"], np.ones(d["shape"], d["dtype"]))
    return net.invoke


def tflm(path):
    from tflite_micro.python.tflite_micro import runtime
    net = runtime.Interpreter.from_file(path)
    details = net.get_input_details(0)
    net.set_input(np.ones(details["shape"], details["dtype"]), 0)
    return net.invoke


def main():
    kind, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    invoke = tflm(path) if kind == "tflm" else litert(path, kind)
    best = None
    for _ in range(rounds):
        start = time.perf_counter_ns()
        invoke()
        taken = time.perf_counter_ns() - start
        best = taken if best is None else min(best, taken)
    print(best)


if __name__ == "__main__":
    main()
