"""run_traffic.py BUS FOLDER TRACE SEED: the traffic of a bus (axi, wishbone, apb) on Icarus Verilog."""
import os
import sys

from cocotb.runner import get_runner

here = os.path.dirname(os.path.abspath(__file__))
bus, folder, trace, seed = sys.argv[1:]
runner = get_runner("icarus")
runner.build(verilog_sources=[os.path.join(here, "outside_wires.v")], hdl_toplevel=bus + "_wires", build_dir=folder,
             timescale=("1ns", "1ps"))
runner.test(hdl_toplevel=bus + "_wires", test_module=bus + "_traffic", build_dir=folder, test_dir=folder,
            extra_env={"TRACE": os.path.abspath(trace), "SEED": seed, "PYTHONPATH": here})
