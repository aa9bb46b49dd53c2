// clock.cpp - the clocks of the model. A cycle is settle(), where outputs follow inputs with the
// clock low, then edge(): all observers sample the settled signals, the clocks of active units
// rise, and the model samples its inputs for the next cycle at the same edge. A driver of an input
// sets `fresh`: only then does the model sample its inputs, and settle() has work only if they
// change between edges (the register bus). The rising clocks are selected here; rise()
// (triggers.cpp) evaluates the model.
#include <chrono>

#include "sim.h"

// Messages of $finish, $stop and assertions in this thread's model (VL_USER_FINISH, _STOP, _FATAL).
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
    if (trace.active()) {
        mark_moved();
        trace.dump_low(*this);
    }
}

void hd_sim::edge()
{
    memory.sample(top, now);
    const bool moved = submission.sample(top, memory, now);
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
    top.clk_control_i = top.active_control_o; // units that rest have no edge
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
