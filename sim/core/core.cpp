// core.cpp - see core.h.
#include "core.h"

#include <cstdarg>
#include <cstdio>

static const char *const channels[] = {
#define BUS(bus, name, what)
#define SIGNAL(bus, channel, signal, names, from, width, need) #channel,
#define HANDSHAKE(bus, valid, ready)
#include "bus.def"
#undef BUS
#undef SIGNAL
#undef HANDSHAKE
};

void Core::fail(const char *format, ...)
{
    char text[300];
    va_list ap;

    if (!failure.empty())
        return;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    failure = text;
}

void Core::broken(const Bus &bus, BusSignal of, const char *format, ...)
{
    char text[240];
    va_list ap;
    const bool own = bus.kind == BUS_WIDE && strcmp(bus.name, "heddle wide memory") == 0;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fail("%s%s%s, cycle %" PRIu64 ": %s", own ? "" : bus.name, own ? "" : " ", channels[of],
         totals.cycles, text);
}

void Core::outside(const char *what, uint64_t at)
{
    fail("the core %s byte 0x%" PRIx64 " in cycle %" PRIu64 ", its memory has 0x%" PRIx64, what, at,
         totals.cycles, options.memory_bytes);
}

void Core::read(uint64_t at, void *to, uint64_t n)
{
    memset(to, 0, n);
    if (at >= options.memory_bytes)
        return outside("reads", at);
    const uint64_t left = options.memory_bytes - at, inside = left < n ? left : n;
    memcpy(to, options.memory + at, inside);
    note("memory read", at, n);
    totals.read_bytes += inside;
}

void Core::write(uint64_t at, const uint8_t *from, uint64_t n, uint64_t strobe)
{
    note("memory write", at, n);
    for (uint64_t i = 0; i < n; i++) {
        if (!(strobe >> i & 1))
            continue;
        if (at + i >= options.memory_bytes)
            return outside("writes", at + i);
        options.memory[at + i] = from[i];
        totals.write_bytes++;
    }
    if (sink == nullptr || n > kWord)
        return;
    hd_sim_commit commit{};
    commit.cycle = totals.cycles;
    commit.space = 1;
    commit.address = at;
    commit.n_bytes = static_cast<uint32_t>(n);
    memcpy(commit.data, from, n);
    commit.strobe = strobe;
    sink(sink_ctx, &commit);
}

void Core::note(const char *what, uint64_t at, uint64_t value)
{
    const Access &last = access_[(n_access_ + 7) % 8];
    const bool again = n_access_ != 0 && strcmp(what, "register read") == 0 &&
                       strcmp(last.what, what) == 0 && last.at == at && last.value == value;

    if (again)
        return;
    access_[n_access_++ % 8] = {what, at, value, totals.cycles};
    stir();
}

// "register write 0x0 = 0x1 in cycle 92, memory read 0x40 (8 bytes) in cycle 95": at most 8, the last of all at the end.
std::string Core::last_accesses() const
{
    std::string text;
    char one[96];

    for (uint64_t i = n_access_ > 8 ? n_access_ - 8 : 0; i < n_access_; i++) {
        const Access &a = access_[i % 8];
        const bool memory = a.what[0] == 'm';
        (void)snprintf(one, sizeof one,
                       memory ? "%s%s 0x%" PRIx64 " (%" PRIu64 " bytes) in cycle %" PRIu64
                              : "%s%s 0x%" PRIx64 " = 0x%" PRIx64 " in cycle %" PRIu64,
                       text.empty() ? "" : ", ", a.what, a.at, a.value, a.cycle);
        text += one;
    }
    return text.empty() ? "none" : text;
}

bool Core::faulty(uint64_t at, uint64_t n) const
{
    return options.fault_enable != 0 && options.fault_address - at < n;
}

void Pace::seed(uint64_t seed)
{
    random_ = core_.options.stall_seed != 0 ? seed * 0x9e3779b97f4a7c15u | 1 : 0;
    for (uint32_t &stall : stall_)
        stall = 0;
    period_ = UINT64_MAX;
}

uint64_t Pace::draw()
{
    random_ ^= random_ >> 12; // xorshift64* (Vigna 2016)
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    return random_ * 0x2545f4914f6cdd1du >> 32;
}

bool Pace::stalls(uint32_t channel)
{
    if (random_ == 0)
        return false;
    if (stall_[channel] != 0)
        return --stall_[channel] != 0;
    if (core_.totals.cycles / kPeriod != period_) {
        period_ = core_.totals.cycles / kPeriod;
        modes_ = draw();
    }
    const uint64_t r = draw(), mode = modes_ >> 2 * channel & 3;
    if ((r & 3) == 0 && mode != 0)
        stall_[channel] = 1 + (r >> 8 & (mode == 3 ? 63 : 7));
    return stall_[channel] != 0;
}

uint64_t Pace::latency()
{
    const uint64_t least = core_.options.latency != 0 ? core_.options.latency : 1;
    return least + (random() ? draw() % (least + 1) : 0);
}

void Pace::take(uint64_t &free, uint32_t bytes, uint64_t cycle) const
{
    const uint64_t back = cycle * rate(bytes) - rate(bytes) + 1;
    free = (free > back ? free : back) + bytes;
}
