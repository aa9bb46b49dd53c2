// watchdog.cpp - prevent endless runs.
#include "watchdog.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "hd_sim_names.h"
#include "sim.h"

namespace heddle
{

namespace
{

uint64_t movement(const hd_sim &sim)
{
    return sim.memory.beats() + sim.commits_seen + sim.submission.completed();
}

uint32_t kind_of(const hd_sim &sim, uint32_t unit)
{
    return sim.top.unit_kind_o >> (3 * unit) & 7;
}

bool any_busy(const hd_sim &sim)
{
    for (uint32_t unit = 0; unit < HD_UNIT_COUNT; unit++)
        if (kind_of(sim, unit) == 0) // kind 0 is `busy` in every unit of accel.json
            return true;
    return false;
}

const char *kind_name(const hd_sim &sim, uint32_t unit)
{
    const char *const name = hd_counter_names[unit][kind_of(sim, unit)];

    return name != nullptr ? name : "?";
}

void add(std::string &text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void add(std::string &text, const char *format, ...)
{
    char buffer[256];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(buffer, sizeof buffer, format, ap);
    va_end(ap);
    text += buffer;
}

void add_command(const hd_sim &sim, std::string &text, uint32_t command)
{
    const hd_sim_command &c = sim.submission.commands()[command];

    add(text, "command %u", command);
    if (c.layer < sim.options.n_layers && sim.options.layer_names[c.layer] != nullptr)
        add(text, " (%s)", sim.options.layer_names[c.layer]);
    else
        add(text, " (layer %u)", c.layer);
}

// Add "waits for load: has 3, needs 4"; false: every wait of the command holds.
bool add_waits(const hd_sim &sim, std::string &text, uint32_t command)
{
    const hd_common *const c = sim.submission.common(command);
    const uint32_t needs[] = {c->wait_load, c->wait_weight, c->wait_array, c->wait_vector,
                              c->wait_store};
    bool any = false;

    for (uint32_t unit = 0; unit < sizeof needs / sizeof needs[0]; unit++) {
        const uint32_t has = sim.submission.done_count(unit);

        if ((c->wait_enable >> unit & 1) == 0 || static_cast<int16_t>(has - needs[unit]) >= 0)
            continue;
        add(text, "%s %s: has %u, needs %u", any ? "," : " waits for", hd_unit_names[unit], has,
            needs[unit]);
        any = true;
    }
    return any;
}

void add_unit(const hd_sim &sim, std::string &text, uint32_t unit)
{
    const uint32_t command = sim.submission.head(unit);

    if (command >= sim.submission.commands().size() || unit == HD_UNIT_FETCH)
        return;
    add(text, "%s%s", text.empty() ? "" : "; ", hd_unit_names[unit]);
    if (sim.submission.head_started(unit) || !add_waits(sim, text, command))
        add(text, " is in %s", kind_name(sim, unit));
    text += " with ";
    add_command(sim, text, command);
}

} // namespace

void Watchdog::restart(const hd_sim &sim)
{
    moved_ = movement(sim);
    still_since_ = idle_since_ = sim.now;
}

bool Watchdog::look(const hd_sim &sim)
{
    const uint64_t moved = movement(sim);

    if (moved != moved_) {
        moved_ = moved;
        still_since_ = idle_since_ = sim.now;
        return false;
    }
    if (any_busy(sim))
        idle_since_ = sim.now;
    return sim.now - idle_since_ >= limit_ || sim.now - still_since_ >= limit_ * kBusyFactor;
}

std::string Watchdog::describe(const hd_sim &sim)
{
    const Submission &s = sim.submission;
    std::string text;

    for (uint32_t unit = 0; unit < HD_UNIT_COUNT; unit++)
        add_unit(sim, text, unit);
    add(text, "%sfetch is in %s", text.empty() ? "" : "; ", kind_name(sim, HD_UNIT_FETCH));
    add(text, "; %u read and %u write bursts open", sim.memory.reads_waiting(),
        sim.memory.writes_waiting());
    uint64_t address = 0;
    uint32_t id = 0;
    if (sim.memory.oldest_read(address, id))
        add(text, ", the oldest read waits for %s's beat at 0x%08llx",
            id < HD_UNIT_COUNT ? hd_unit_names[id] : "?", static_cast<unsigned long long>(address));
    if (sim.memory.oldest_write(address))
        add(text, ", the oldest write is store's burst at 0x%08llx",
            static_cast<unsigned long long>(address));
    text += "; last completed: ";
    if (s.last_completed() < s.commands().size())
        add_command(sim, text, s.last_completed());
    else
        text += "none";
    add(text, "; cycle %llu of the submission",
        static_cast<unsigned long long>(sim.now - s.start()));
    return text;
}

} // namespace heddle
