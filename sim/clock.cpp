// clock.cpp - the only eval(). A cycle is settle(), where outputs follow inputs with the clock low,
// then edge(): everyone looks at the settled signals, the clocks of what does not rest rise, and
// the model takes its inputs for the next cycle with the same edge. Whoever drives an input sets
// `fresh`: only then does the model take its inputs, and only what drives them in between (the
// register bus) needs settle() to do anything.
// eval() asks four times a cycle which clocks rose, a fifth of all instructions at sys8. We know,
// so with the Verilator whose names these are the function that it wraps is called with what rises;
// with any other, and where the RTL's assertions are on, eval() is.
#include <chrono>

#include "Vhd_sim_top__Syms.h"
#include "hd_sim_config.h" // HD_SIM_CHECKED: sim/build.c
#include "sim.h"

// A Verilator built outside a release defines the number as nothing.
#if VERILATOR_VERSION_INTEGER + 0 == 5006000 && !HD_SIM_CHECKED
#define HD_SIM_KNOWS_TRIGGERS
#endif

// What $finish, $stop and assertions of this thread's model said (VL_USER_FINISH, _STOP, _FATAL).
static thread_local std::string model_failure;

void vl_finish(const char *file, int line, const char *) VL_MT_UNSAFE
{
    model_failure = std::string("$finish at ") + file + ":" + std::to_string(line);
}

void vl_stop(const char *file, int line, const char *) VL_MT_UNSAFE
{
    model_failure = std::string("assertion or $stop at ") + file + ":" + std::to_string(line);
}

void vl_fatal(const char *file, int line, const char *, const char *message) VL_MT_UNSAFE
{
    model_failure = std::string(message) + " at " + file + ":" + std::to_string(line);
}

#ifdef HD_SIM_KNOWS_TRIGGERS
void Vhd_sim_top___024root___eval_nba(Vhd_sim_top___024root *model);
void Vhd_sim_top___024root___eval_triggers__act(Vhd_sim_top___024root *model);
#endif

// All clocks are low and eval() was called before.
void hd_sim::learn_triggers()
{
#ifdef HD_SIM_KNOWS_TRIGGERS
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
#endif
}

void hd_sim::rise()
{
#ifdef HD_SIM_KNOWS_TRIGGERS
    if (known) {
        *trigger[0] = top.take_i;
        *trigger[1] = top.clk_i;
        *trigger[2] = top.clk_control_i;
        *trigger[3] = top.clk_dma_i;
        *trigger[4] = top.clk_vector_i;
        *trigger[5] = top.clk_requant_i;
        Vhd_sim_top___024root___eval_nba(top.rootp);
#if VM_TRACE
        top.rootp->vlSymsp->__Vm_activity = true; // what a dump asks first
#endif
        return;
    }
#endif
    top.eval();
}

void hd_sim::fall()
{
    top.clk_i = top.clk_control_i = top.clk_dma_i = top.clk_vector_i = top.clk_requant_i = 0;
    top.take_i = 0;
    if (!known)
        top.eval();
}

void hd_sim::reset()
{
    top.rst_ni = 0;
    fall();
    learn_triggers();
    fresh = true;
    for (int i = 0; i < 8; i++) {
        settle();
        edge();
    }
    top.rst_ni = 1;
    fresh = true;
    watchdog.restart(*this);
}

void hd_sim::settle()
{
    fall();
    if (fresh) {
        top.take_i = 1;
        rise();
        fall();
        fresh = false;
    }
    if (trace.active())
        trace.dump_low(*this);
}

void hd_sim::edge()
{
    memory.sample(top, now);
    const bool moved = submission.sample(top, now);
    const uint32_t commits =
        top.commit_q_valid_o | top.commit_l_valid_o | top.commit_w_valid_o | top.commit_m_valid_o;

    if (commits != 0) {
        commits_seen++;
        if (sink != nullptr)
            drain_commits();
    }
    now++;
    fresh |= memory.drive(top, now);
    if (trace.armed())
        fresh |= trace.choose(*this, moved);
    top.take_i = fresh;
    top.clk_i = 1;
    top.clk_control_i = top.active_control_o; // what rests has no edge
    top.clk_dma_i = top.active_dma_o;
    top.clk_vector_i = top.active_vector_o;
    top.clk_requant_i = top.active_requant_o;
    rise();
    fresh = false;
    if (trace.active())
        trace.dump_high(*this);
}

bool hd_sim::failed()
{
    if (failure.empty() && !model_failure.empty())
        failure.swap(model_failure);
    if (failure.empty() && memory.violation()[0] != '\0')
        failure = std::string("AXI rule broken: ") + memory.violation();
    stuck = submission.violation();
    return !failure.empty() || !stuck.empty();
}

hd_sim_stop hd_sim::run(uint64_t max_cycles)
{
    using clock = std::chrono::steady_clock;
    const clock::time_point begin = clock::now();
    const uint64_t end = max_cycles < ~now ? now + max_cycles : ~uint64_t{0};
    hd_sim_stop stop = HD_SIM_CYCLES;

    while (now < end && !top.irq_o) {
        const uint64_t pause = now + heddle::Watchdog::kStride;

        for (const uint64_t until = pause < end ? pause : end; now < until && !top.irq_o;) {
            settle();
            edge();
        }
        if (failed()) {
            stop = HD_SIM_FAILED;
            break;
        }
        if (watchdog.look(*this)) {
            stuck = heddle::Watchdog::describe(*this);
            stop = HD_SIM_STUCK;
            break;
        }
    }
    if (stop == HD_SIM_CYCLES && top.irq_o)
        stop = failed() ? HD_SIM_FAILED : HD_SIM_IRQ;
    wall_seconds += std::chrono::duration<double>(clock::now() - begin).count();
    return stop;
}
