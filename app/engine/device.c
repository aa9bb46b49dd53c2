/* device.c - see device.h. */
#include "device.h"

#include <string.h>

#include "base/home.h"

enum status device_waves_model(struct arena *a, const struct options *o, const struct hd_config *hw,
                               uint32_t seconds, struct sim_model *model, struct diag *d)
{
    struct sim_paths paths = {.checked = o->checked,
                              .waves = true,
                              .output = o->output,
                              .why = "for waves of the first wrong bytes",
                              .seconds = seconds};

    TRY(home_find(a, &paths.home, d));
    TRY(home_cache(a, &paths.cache, d));
    return sim_build(a, &paths, hw, model, d);
}

enum status device_model(struct arena *a, const struct options *o, const struct hd_config *hw,
                         struct sim_model *model, struct diag *d)
{
    struct sim_paths paths = {
        .checked = o->checked, .waves = o->waves != NULL, .output = o->output};

    TRY(home_find(a, &paths.home, d));
    TRY(home_cache(a, &paths.cache, d));
    return sim_build(a, &paths, hw, model, d);
}

static enum status open_func(struct device *v, struct diag *d)
{
    size_t n = hd_func_bytes(v->hw);
    void *mem = arena_alloc(v->arena, n + 64);
    struct hd_func_memory memory = {v->memory, DEVICE_BASE, v->n_bytes};

    if (n == 0 || hd_func_init(&v->func, v->hw, mem, n, memory) != 0)
        return FAIL(d, ST_INTERNAL, "the functional model does not support configuration %s",
                    v->hw->name);
    hd_func_port(&v->func, &v->port);
    if (v->options->separate_memory)
        v->port.window = NULL;
    return ST_OK;
}

void device_spoil_bus(const struct options *o, const struct hd_sim_api *api, struct hd_sim *sim,
                      struct hd_sim_bus_fault *fault)
{
    *fault = (struct hd_sim_bus_fault){.kind = o->bus_fault, .beat = o->bus_fault_beat};
    if (o->bus_fault)
        api->bus_fault(sim, fault);
}

static bool is_write(uint32_t kind)
{
    return kind >= HD_SIM_BUS_WRITE_SLVERR;
}

void device_note_fault(const struct device *v, const struct hd_config *hw,
                       const struct hd_sim_totals *totals, struct run_shared *to)
{
    const uint64_t bytes = is_write(v->bus_fault.kind) ? totals->write_bytes : totals->read_bytes;

    to->fault_happened = to->fault_happened || v->bus_fault.happened;
    if (to->fault_beats < bytes / hw->axi_bytes)
        to->fault_beats = bytes / hw->axi_bytes;
}

enum status device_want_fault(const struct options *o, const struct run_shared *r, struct diag *d)
{
    const bool seen = o->bus_fault_beat < r->fault_beats;

    if (!o->bus_fault || r->fault_happened)
        return ST_OK;
    return FAIL(d, ST_USAGE,
                "--bus-fault did not occur: --bus-fault-beat is %llu, and %llu beats were %s%s",
                (unsigned long long)o->bus_fault_beat, (unsigned long long)r->fault_beats,
                is_write(o->bus_fault) ? "written" : "read",
                seen ? "; this kind cannot occur there" : "");
}

/* Return the option that needs the RTL in every cycle, or NULL. */
static const char *needs_every_cycle(const struct options *o)
{
    return o->engine != ENGINE_RTL  ? "an engine other than rtl"
           : o->host != HOST_NATIVE ? "--host"
           : o->stall_seed          ? "--stall-seed"
           : o->bus_fault           ? "--bus-fault"
           : o->poll                ? "--wait=poll"
           : o->checked             ? "--checked"
                                    : NULL;
}

enum reuse_mode device_reuse(const struct options *o, bool one_submission)
{
    bool given = false;

    for (uint32_t i = 0; i < o->n_given; i++)
        given = given || strcmp(o->given[i].name, "reuse") == 0;
    return one_submission && !given && !needs_every_cycle(o) ? REUSE_WAVES : o->reuse;
}

enum status device_check_reuse(const struct options *o, struct diag *d)
{
    const char *const wrong = needs_every_cycle(o);

    if (o->fill_store && o->reuse != REUSE_SAME && o->reuse != REUSE_CYCLES)
        return FAIL(d, ST_USAGE, "--fill-store: expected --reuse=same or --reuse=cycles too");
    if (o->reuse == REUSE_OFF || !wrong)
        return ST_OK;
    return FAIL(d, ST_USAGE, "--reuse: not with %s, which needs every cycle of the RTL", wrong);
}

/* Put the store of submissions before the model. */
static enum status open_reuse(struct device *v, enum reuse_mode mode, const struct sim_model *so,
                              const struct hd_sim_options *s, struct diag *d)
{
    struct options plain = *v->options;
    struct sim_model model = *so;

    struct reuse_setup setup = {
        .mode = mode, .fill = v->options->fill_store, .hw = v->hw, .api = v->sim.api, .options = s};
    const char *cache;

    TRY(home_cache(v->arena, &cache, d));
    if (mode != REUSE_WAVES)
        setup.store = arena_printf(v->arena, "%s/submissions", cache);
    plain.waves = NULL;
    if (setup.store && v->options->waves)
        TRY(device_model(v->arena, &plain, v->hw, &model, d));
    setup.source_hash = model.source_hash;
    TRY(reuse_open(v->arena, &setup, &v->reuse, d));
    v->sim.api = reuse_api(v->reuse);
    v->sim.sim = reuse_sim(v->reuse);
    return ST_OK;
}

static enum status open_rtl(struct device *v, const struct sim_model *so,
                            const struct device_text *text, struct diag *d)
{
    const char *const waves = v->options->waves;
    const enum reuse_mode mode =
        device_reuse(v->options, waves && strncmp(waves, "layer:", 6) == 0);
    char error[512] = "";
    struct hd_sim_options s = {.memory = v->memory,
                               .memory_base = DEVICE_BASE,
                               .memory_bytes = v->n_bytes,
                               .latency = v->options->mem_latency,
                               .bytes_per_cycle = v->options->mem_bytes,
                               .stall_seed = v->options->stall_seed,
                               .layer_names = text->layer_names,
                               .n_layers = text->n_layers,
                               .tile = text->tile,
                               .tile_ctx = text->ctx};

    v->sim = (struct sim_port){
        .memory = v->memory, .memory_base = DEVICE_BASE, .memory_bytes = v->n_bytes};
    TRY(sim_load(so->path, so->source_hash, v->hw->hash, &v->sim.api, d));
    if (mode != REUSE_OFF)
        TRY(open_reuse(v, mode, so, &s, d));
    else
        v->sim.sim = v->sim.api->open(&s, error, sizeof error);
    if (!v->sim.sim)
        return FAIL(d, ST_INTERNAL, "cannot open the model of %s: %s", v->hw->name, error);
    sim_port(&v->sim, !v->options->separate_memory, &v->port);
    device_spoil_bus(v->options, v->sim.api, v->sim.sim, &v->bus_fault);
    return ST_OK;
}

enum status device_open(struct device *v, struct arena *a, const struct options *o,
                        const struct hd_config *hw, enum options_engine engine,
                        const struct sim_model *so, uint8_t *memory, uint64_t n_bytes,
                        const struct device_text *text, struct diag *d)
{
    *v = (struct device){.arena = a, .options = o, .hw = hw, .engine = engine};
    v->n_bytes = (n_bytes + 4095) / 4096 * 4096;
    uint8_t *raw = memory ? memory : arena_alloc(a, v->n_bytes + 64);
    v->memory = raw + (64 - (uintptr_t)raw % 64) % 64;
    if (engine == ENGINE_FUNC)
        TRY(open_func(v, d));
    else
        TRY(open_rtl(v, so, text, d));
    int rc = hd_open(&v->dev, &v->port, hw->hash);
    if (rc != HD_OK)
        return FAIL(d, rc == HD_ERROR_CONFIG ? ST_INTERNAL : ST_DEVICE,
                    "cannot open the device: %s", hd_error_text(rc));
    v->dev.wait_cycles = o->max_cycles;
    if (o->poll)
        v->dev.wait_mode = HD_WAIT_POLL;
    return ST_OK;
}

void device_close(struct device *v)
{
    if (v->sim.sim)
        v->sim.api->close(v->sim.sim);
    v->sim.sim = NULL;
}

const char *device_detail(struct device *v)
{
    const char *why = v->engine == ENGINE_FUNC ? v->func.why : v->sim.api->stuck_text(v->sim.sim);

    return why ? why : "";
}
