// triggers.cpp - the fence around Verilator's internals: nothing else in heddle names them.
// Why: eval() asks four times per cycle which clocks rose, a fifth of all instructions at sys8. We
// know. So with the Verilator whose names these are, 5.006, rise() sets what eval() would find out
// and calls the function that it wraps. Gain: instructions of the model a cycle at sys8 3,930 with
// eval(), 3,290 without; user seconds 1.56 and 1.44 (docs/PERFORMANCE.md). With any other Verilator,
// where the RTL's assertions are on, and where learn_triggers() finds anything unexpected, eval()
// is called; tests/sim/build/test_slow_verilator.sh holds both ways to the same cycles.
#include "Vhd_sim_top__Syms.h"
#include "hd_sim_config.h" // HD_SIM_CHECKED: sim/build/build.c
#include "sim.h"

// A Verilator built outside a release defines the number as empty.
#if VERILATOR_VERSION_INTEGER + 0 == 5006000 && !HD_SIM_CHECKED

void Vhd_sim_top___024root___eval_nba(Vhd_sim_top___024root *model);
void Vhd_sim_top___024root___eval_triggers__act(Vhd_sim_top___024root *model);

// Learn the triggers; all clocks are low and eval() was called before.
void hd_sim::learn_triggers()
{
    CData *const clocks[kClocks] = {&top.take_i,    &top.clk_i,        &top.clk_control_i,
                                    &top.clk_dma_i, &top.clk_vector_i, &top.clk_requant_i};
    auto &rose = top.rootp->__VactTriggered;

    known = true;
    for (uint32_t i = 0; i < kClocks; i++) {
        *clocks[i] = 1;
        Vhd_sim_top___024root___eval_triggers__act(top.rootp);
        trigger[i] = nullptr;
        for (size_t k = 0; k < sizeof rose; k++)
            if (rose.at(k)) {
                known &= trigger[i] == nullptr;
                trigger[i] = &top.rootp->__VnbaTriggered.at(k);
            }
        known &= trigger[i] != nullptr;
        *clocks[i] = 0;
        Vhd_sim_top___024root___eval_triggers__act(top.rootp);
        known &= !rose.any(); // nothing depends on a falling edge
    }
}

void hd_sim::rise()
{
    if (!known) {
        top.eval();
        return;
    }
    *trigger[0] = top.take_i;
    *trigger[1] = top.clk_i;
    *trigger[2] = top.clk_control_i;
    *trigger[3] = top.clk_dma_i;
    *trigger[4] = top.clk_vector_i;
    *trigger[5] = top.clk_requant_i;
    Vhd_sim_top___024root___eval_nba(top.rootp);
    mark_moved();
}

void hd_sim::mark_moved()
{
#if VM_TRACE
    top.rootp->vlSymsp->__Vm_activity = true; // first condition of a dump
#endif
}

#else

void hd_sim::learn_triggers()
{
}

void hd_sim::rise()
{
    top.eval();
}

void hd_sim::mark_moved() // eval() does
{
}

#endif
