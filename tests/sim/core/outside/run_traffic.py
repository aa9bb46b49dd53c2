"""run_traffic.py FOLDER TRACE SEED: axi_traffic.py on Icarus Verilog."""
import os
import sys

from cocotb.runner import get_runner

here = os.path.dirname(os.path.abspath(__file__))
runner = get_runner("icarus")
runner.build(verilog_sources=[os.path.join(here, "axi_wires.v")], hdl_toplevel="axi_wires", build_dir=sys.argv[1],
             timescale=("1ns", "1ps"))
runner.test(hdl_toplevel="axi_wires", test_module="axi_traffic", build_dir=sys.argv[1], test_dir=sys.argv[1],
            extra_env={"TRACE": os.path.abspath(sys.argv[2]), "SEED": sys.argv[3], "PYTHONPATH": here})
