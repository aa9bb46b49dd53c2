// core_check.cpp - see core_check.h.
#include "core_check.h"

static const struct Info {
    BusKind bus;
    const char *channel;
    char from;
} info[] = {
#define BUS(bus, name, what)
#define SIGNAL(bus, channel, signal, names, from, width, need) {BUS_##bus, #channel, #from[0]},
#define HANDSHAKE(bus, valid, ready)
#include "bus.def"
#undef BUS
#undef SIGNAL
#undef HANDSHAKE
};

static const struct Handshake {
    BusKind bus;
    BusSignal valid, ready;
} handshakes[] = {
#define BUS(bus, name, what)
#define SIGNAL(bus, channel, signal, names, from, width, need)
#define HANDSHAKE(bus, valid, ready) {BUS_##bus, valid, ready},
#include "bus.def"
#undef BUS
#undef SIGNAL
#undef HANDSHAKE
};

Handshakes::Handshakes(const Bus &bus, Core &core, bool both) : bus_(bus), core_(core)
{
    for (const Handshake &h : handshakes) {
        const bool core_drives = (info[h.valid].from == 'M') == bus.manager;
        Channel channel{h.valid, h.ready, core_drives, {}, false, 0, {}};
        size_t bytes = 0;

        if (h.bus != bus.kind || !bus[h.valid] || !bus[h.ready])
            continue;
        for (int s = 0; s < SIGNAL_COUNT && (core_drives || both); s++)
            if (info[s].bus == bus.kind && strcmp(info[s].channel, info[h.valid].channel) == 0 &&
                info[s].from == info[h.valid].from && s != h.valid && bus.wire[s]) {
                channel.payload.push_back(static_cast<BusSignal>(s));
                bytes += bus.wire[s].bytes;
            }
        channel.was.resize(bytes);
        if (both)
            channel.core_drives = true;
        channels_.push_back(channel);
    }
}

void Handshakes::sample()
{
    for (Channel &channel : channels_)
        look(channel);
}

void Handshakes::look(Channel &c)
{
    const bool valid = bus_.on(c.valid), ready = bus_.on(c.ready);
    size_t at = 0;

    if (!c.core_drives) {
        c.waited = valid && !ready && bus_.kind != BUS_STREAM ? c.waited + 1 : 0;
        if (c.waited > kPatience)
            core_.broken(bus_, c.valid, "%s: expected ready within %u cycles of valid, found none",
                         bus_[c.ready].name, kPatience);
        return;
    }
    if (c.held && !valid)
        core_.broken(bus_, c.valid, "%s: expected valid until ready, found that it fell",
                     bus_[c.valid].name);
    if (valid || c.held)
        for (const BusSignal s : c.payload) {
            const Wire &wire = bus_[s];

            for (uint32_t i = 0; c.held && valid && i < wire.bytes; i++)
                if (c.was[at + i] != wire.at[i]) {
                    core_.broken(bus_, s,
                                 "%s changed while waiting for ready: expected 0x%02x, found "
                                 "0x%02x in bits %u:%u",
                                 wire.name, c.was[at + i], wire.at[i], 8 * i + 7, 8 * i);
                    break;
                }
            memcpy(&c.was[at], wire.at, wire.bytes);
            at += wire.bytes;
        }
    c.held = valid && !ready;
}

// --- AXI ---

AxiRequest::AxiRequest(const Bus &bus, bool read)
{
    const uint32_t full = static_cast<uint32_t>(__builtin_ctz(bus.bytes));

    address = bus[read ? ARADDR : AWADDR].get();
    id = static_cast<uint32_t>(bus[read ? ARID : AWID].get());
    beats = static_cast<uint32_t>(bus[read ? ARLEN : AWLEN].get()) + 1;
    size = 1u << bus[read ? ARSIZE : AWSIZE].get(full);
    burst = static_cast<uint32_t>(bus[read ? ARBURST : AWBURST].get(1));
}

uint64_t AxiRequest::beat_address(uint32_t beat) const
{
    const uint64_t aligned = address & ~uint64_t{size - 1};

    if (burst == 0 || beat == 0)
        return address;
    if (burst == 2) {
        const uint64_t bytes = uint64_t{size} * beats;
        return (aligned & ~(bytes - 1)) + ((aligned + uint64_t{beat} * size) & (bytes - 1));
    }
    return aligned + uint64_t{beat} * size;
}

uint32_t AxiRequest::beat_bytes(uint32_t beat) const
{
    return size - static_cast<uint32_t>(beat_address(beat) & (size - 1));
}

void AxiRules::request(const AxiRequest &r, bool read)
{
    const BusSignal at = read ? ARADDR : AWADDR, length = read ? ARLEN : AWLEN,
                    size = read ? ARSIZE : AWSIZE, burst = read ? ARBURST : AWBURST;
    const uint64_t end = (r.address & ~uint64_t{r.size - 1}) + uint64_t{r.beats} * r.size - 1;

    if (r.size > bus_.bytes)
        core_.broken(bus_, size, "%s: expected at most %u bytes a beat, found %u", bus_[size].name,
                     bus_.bytes, r.size);
    if (r.burst == 3)
        core_.broken(bus_, burst, "%s: expected FIXED, INCR or WRAP, found 3", bus_[burst].name);
    if (r.burst == 0 && r.beats > 16)
        core_.broken(bus_, length, "%s: expected at most 16 beats of a FIXED burst, found %u",
                     bus_[length].name, r.beats);
    if (r.burst == 2 && (r.beats > 16 || r.beats < 2 || (r.beats & (r.beats - 1)) != 0))
        core_.broken(bus_, length, "%s: expected 2, 4, 8 or 16 beats of a WRAP burst, found %u",
                     bus_[length].name, r.beats);
    if (r.burst == 2 && (r.address & (r.size - 1)) != 0)
        core_.broken(bus_, at,
                     "%s: expected an address that %u divides for a WRAP burst, found 0x%" PRIx64,
                     bus_[at].name, r.size, r.address);
    if (r.burst == 1 && r.address >> 12 != end >> 12)
        core_.broken(bus_, at,
                     "%s: burst of %u beats of %u bytes from 0x%" PRIx64
                     " crosses a 4 KiB boundary",
                     bus_[at].name, r.beats, r.size, r.address);
}

void AxiRules::sample()
{
    if (bus_.fires(ARVALID, ARREADY)) {
        const AxiRequest r(bus_, true);
        request(r, true);
        reads_[r.id].push_back({r, 0});
    }
    if (bus_.fires(RVALID, RREADY))
        answer();
    if (bus_.fires(AWVALID, AWREADY)) {
        const AxiRequest r(bus_, false);
        request(r, false);
        writes_.push_back({r, 0});
    }
    if (bus_.fires(WVALID, WREADY))
        ahead_.push_back({bus_[WSTRB].get(), bus_.on(WLAST, 2)});
    match();
    if (bus_.on(BVALID)) {
        const uint32_t id = static_cast<uint32_t>(bus_[BID].get());
        if (complete_[id] == 0)
            core_.broken(bus_, BVALID,
                         "%s: answer of ID %u: expected after the last beat of its "
                         "write, found no such write",
                         bus_[BVALID].name, id);
        else if (bus_.on(BREADY))
            complete_[id]--;
        response(BRESP, bus_[BRESP].get());
    }
}

// Data go to the writes in the order of their addresses.
void AxiRules::match()
{
    while (!ahead_.empty() && !writes_.empty()) {
        Write &w = writes_.front();
        const Beat beat = ahead_.front();
        const uint64_t at = w.request.beat_address(w.beat);
        const uint32_t from = static_cast<uint32_t>(at & (bus_.bytes - 1));
        const uint32_t n = w.request.beat_bytes(w.beat);
        const uint64_t lanes = (n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1) << from;
        const bool last = w.beat + 1 == w.request.beats;

        ahead_.pop_front();
        if ((beat.strobe & ~lanes) != 0)
            core_.broken(bus_, WSTRB,
                         "%s: beat %u of the burst from 0x%" PRIx64
                         ": expected strobes within 0x%" PRIx64 ", found 0x%" PRIx64,
                         bus_[WSTRB].name, w.beat, w.request.address, lanes, beat.strobe);
        if (bus_[WLAST] && beat.last != last)
            core_.broken(bus_, WLAST,
                         "%s: beat %u of %u of the burst from 0x%" PRIx64 ": expected %d, found %d",
                         bus_[WLAST].name, w.beat, w.request.beats, w.request.address, last,
                         beat.last);
        w.beat++;
        if (last) {
            complete_[w.request.id]++;
            writes_.pop_front();
        }
    }
}

void AxiRules::response(BusSignal of, uint64_t value)
{
    if (!bus_.manager && value != 0)
        core_.broken(bus_, of, "%s: expected OKAY, found %s", bus_[of].name,
                     value == 1   ? "EXOKAY"
                     : value == 2 ? "SLVERR"
                                  : "DECERR");
}

void AxiRules::answer()
{
    const uint32_t id = static_cast<uint32_t>(bus_[RID].get());
    std::deque<Write> &reads = reads_[id];

    response(RRESP, bus_[RRESP].get());
    if (reads.empty())
        return core_.broken(bus_, RVALID,
                            "%s: answer of ID %u: expected after its read, found no "
                            "such read",
                            bus_[RVALID].name, id);
    Write &r = reads.front();
    const bool last = r.beat + 1 == r.request.beats;
    if (bus_[RLAST] && bus_.on(RLAST) != last)
        core_.broken(
            bus_, RLAST, "%s: beat %u of %u of the burst from 0x%" PRIx64 ": expected %d, found %d",
            bus_[RLAST].name, r.beat, r.request.beats, r.request.address, last, bus_.on(RLAST));
    r.beat++;
    if (last)
        reads.pop_front();
}

// --- Wishbone ---

void WishboneRules::changed(BusSignal s, uint64_t was, uint64_t is)
{
    if (was != is)
        core_.broken(bus_, s,
                     "%s changed while waiting for %s: expected 0x%" PRIx64 ", found 0x%" PRIx64,
                     bus_[s].name, bus_[STALL] ? "stall to fall" : "ack", was, is);
}

void WishboneRules::check_held()
{
    const uint64_t at = bus_[ADR].address() & ~uint64_t{bus_.bytes - 1};

    if (held_) {
        changed(ADR, address_, at);
        changed(WE, we_, bus_.on(WE));
        changed(SEL, sel_, bus_[SEL].get());
    }
    for (uint32_t i = 0; i < bus_.bytes && bus_.on(WE); i++) {
        if (held_)
            changed(DAT_W, was_[i], bus_[DAT_W].at[i]);
        was_[i] = bus_[DAT_W].at[i];
    }
    address_ = at;
    we_ = bus_.on(WE);
    sel_ = bus_[SEL].get();
}

void WishboneRules::sample()
{
    const bool piped = static_cast<bool>(bus_[STALL]);
    const int answers = bus_.on(ACK) + bus_.on(ERR) + bus_.on(RTY);
    const bool asks = bus_.on(CYC) && bus_.on(STB);

    if (answers > 1)
        core_.broken(bus_, ACK, "%s: expected one of ack, err and rty, found more", bus_[ACK].name);
    if (asks)
        check_held();
    else if (bus_.on(STB))
        core_.broken(bus_, STB, "%s: expected with cyc, found alone", bus_[STB].name);
    if (held_ && !asks)
        core_.broken(bus_, STB, "%s: expected until ack, found that it fell", bus_[STB].name);
    held_ = asks && (piped ? bus_.on(STALL) : answers == 0);
    under_way_ += piped && asks && !held_;
    if (piped && answers != 0 && under_way_ == 0)
        core_.broken(bus_, ACK, "%s: expected after a cycle with stb, found none", bus_[ACK].name);
    else if (piped && answers != 0)
        under_way_--;
}

// --- APB ---

void ApbRules::sample()
{
    static const BusSignal payload[] = {PADDR, PWRITE, PSTRB, PWDATA};
    const bool selected = bus_.on(PSEL), access = selected && bus_.on(PENABLE);

    if (waits_ && !access)
        core_.broken(bus_, selected ? PENABLE : PSEL,
                     "%s: expected after the setup until pready, found that it %s",
                     bus_[selected ? PENABLE : PSEL].name, selected ? "is 0" : "fell");
    if (!waits_ && access)
        core_.broken(bus_, PENABLE, "%s: expected after a cycle of setup, found at once",
                     bus_[PENABLE].name);
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t is = bus_[payload[i]].get();
        if (waits_ && is != was_[i] && (payload[i] != PWDATA || bus_.on(PWRITE)))
            core_.broken(bus_, payload[i],
                         "%s changed before pready: expected 0x%" PRIx64 ", found 0x%" PRIx64,
                         bus_[payload[i]].name, was_[i], is);
        was_[i] = is;
    }
    if (selected && !bus_.on(PWRITE) && bus_[PSTRB].get() != 0)
        core_.broken(bus_, PSTRB, "%s: expected 0 for a read, found 0x%" PRIx64, bus_[PSTRB].name,
                     bus_[PSTRB].get());
    waits_ = selected && !(access && bus_.on(PREADY, 1));
}
