// trace.h - FST waves of windows of a run, up to a size; in a model built without waves, start()
// fails. Time: 10 ns per cycle since open, so a cycle number is a time without its last digit.
#ifndef HEDDLE_SIM_TRACE_H
#define HEDDLE_SIM_TRACE_H

#include <cstdint>
#include <string>

class VerilatedFstC;
struct hd_sim;

namespace heddle
{

class Trace
{
  public:
    // Start a trace; 0, or -1: the file cannot be written, or the model has no waves.
    int start(hd_sim &sim, const char *path, uint64_t limit_bytes);
    void stop();
    void window(bool by_command, uint64_t first, uint64_t last);

    bool active() const
    {
        return active_;
    } // dump this cycle
    bool armed() const
    {
        return armed_;
    }

    // Select the clocks before the edge that begins cycle sim.now; moved: a command of the
    // submission started or completed. Return true if inputs of the model are new.
    bool choose(hd_sim &sim, bool moved);
    // Show the function that the host executes, from the next cycle on.
    void show_host(hd_sim &sim, const char *function);
    void dump_low(hd_sim &sim);
    void dump_high(hd_sim &sim);

    uint64_t bytes() const
    {
        return bytes_;
    }
    uint64_t cycles() const
    {
        return cycles_;
    }
    bool limited() const
    {
        return limited_;
    }

  private:
    bool in_window(const hd_sim &sim) const;
    void name_commands(hd_sim &sim);
    void check_size();

    VerilatedFstC *file_ = nullptr;
    std::string path_;
    bool declared_ = false;
    bool armed_ = false, active_ = false, limited_ = false;
    bool asked_ = false; // a flush was requested, its size not yet read
    bool by_command_ = false;
    uint64_t first_ = 1, last_ = 0; // last < first: everything
    uint64_t limit_ = 0, bytes_ = 0, cycles_ = 0, next_check_ = 0;
};

} // namespace heddle

#endif
