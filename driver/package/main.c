/* main.c - run the network on every inference in in_0.bin, in_1.bin, .. (one after another, in the
 * model's layout and type), write out_0.bin, .., and print the memory used. All memory is static or
 * the accelerator's; the same source runs hosted and on bare metal. */
#include "model.h"
#include "port.h"

#if (MODEL_COMMAND_BYTES > 0 && defined(HD_REGISTERS)) || defined(HD_CORE_REGISTERS)
#include "port_mmio.h"
#endif

#define GUARD      64u /* bytes after the arena that must not be written */
#define GUARD_BYTE 0xa5u
#define MAX_FILES  64u

#ifndef MODEL_DEVICES
#define MODEL_DEVICES 1
#endif

/* With one accelerator tensors are in its memory, and nothing is copied per inference. Several
 * accelerators have separate memories, to and from which tensors are copied; without an accelerator
 * they are here. */
#if MODEL_COMMAND_BYTES > 0 && defined(HD_REGISTERS) && MODEL_DEVICES == 1
#define SHARED 1
#else
#define SHARED 0
static _Alignas(64) uint8_t arena[MODEL_ARENA_BYTES + GUARD];
static _Alignas(64) uint8_t io[MODEL_IO_BYTES];
#endif
static _Alignas(64) uint8_t state[MODEL_STATE_BYTES + 1];
static uint8_t *buffer[MAX_FILES];
static int file[MAX_FILES];

static void print_number(uint64_t n)
{
    char digits[24];
    uint32_t at = sizeof digits - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + (int)(n % 10));
        n /= 10;
    } while (n);
    port_print(digits + at);
}

static void print_line(const char *what, uint64_t n, const char *unit)
{
    port_print(what);
    print_number(n);
    port_print(unit);
}

static int fail(const char *what, const char *which)
{
    port_print(what);
    port_print(which);
    port_print("\n");
    return 2;
}

#if MODEL_COMMAND_BYTES > 0 && defined(HD_REGISTERS)
static const uintptr_t registers[] = {HD_REGISTERS}, memory[] = {HD_MEMORY};
static const uint64_t memory_bytes[] = {HD_MEMORY_BYTES};
_Static_assert(sizeof registers / sizeof *registers == MODEL_DEVICES &&
                   sizeof memory == sizeof registers &&
                   sizeof memory_bytes / sizeof *memory_bytes == MODEL_DEVICES,
               "HD_REGISTERS, HD_MEMORY, HD_MEMORY_BYTES: expected a value for each accelerator of "
               "hd_model.devices, separated by commas");
#endif

/* Open the accelerators if the build gives their addresses; otherwise there are none. */
static int open_devices(struct hd_call *call)
{
#if MODEL_COMMAND_BYTES > 0 && defined(HD_REGISTERS)
    static struct hd_mmio mmio[MODEL_DEVICES];
    static struct hd_port port[MODEL_DEVICES];
    static struct hd_device device[MODEL_DEVICES], *devices[MODEL_DEVICES];

    call->dev = &device[0];
    call->devices = devices;
    for (uint32_t i = 0; i < MODEL_DEVICES; i++) {
        uint32_t hash = hd_model.n_devices ? hd_model.devices[i].config_hash : MODEL_CONFIG_HASH;
        int rc;

        mmio[i] = (struct hd_mmio){.registers = registers[i],
                                   .memory = memory[i],
                                   .memory_base = memory[i],
                                   .memory_bytes = memory_bytes[i]};
#ifdef HD_IRQ
        mmio[i].irq_pending = port_interrupt;
#endif
        hd_mmio_port(&mmio[i], &port[i]);
        devices[i] = &device[i];
        rc = hd_open(&device[i], &port[i], hash);
        if (rc == HD_OK)
            rc = hd_model_bind_device(&hd_model, call, &device[i], memory[i]);
        if (rc != HD_OK)
            return rc;
    }
    return HD_OK;
#else
    (void)call;
    return MODEL_COMMAND_BYTES > 0 ? HD_ERROR_ARGUMENT : HD_OK;
#endif
}

/* Open the cores of external targets if the build gives their addresses; each core's own addresses
 * start at 0. Otherwise the targets' C computes. */
static int open_cores(struct hd_call *call)
{
#ifdef HD_CORE_REGISTERS
    static const uintptr_t at[] = {HD_CORE_REGISTERS}, bytes_at[] = {HD_CORE_MEMORY};
    static const uint32_t bytes[] = {HD_CORE_MEMORY_BYTES};
    enum { CORES = sizeof at / sizeof *at };
    static struct hd_mmio mmio[CORES];
    static struct hd_port port[CORES];
    static const struct hd_port *ports[CORES];

    _Static_assert(sizeof bytes_at == sizeof at && sizeof bytes / sizeof *bytes == CORES,
                   "HD_CORE_REGISTERS, HD_CORE_MEMORY, HD_CORE_MEMORY_BYTES: expected a value for "
                   "each of hd_model.port_names, separated by commas");
    if (hd_model.n_ports != CORES)
        return HD_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < CORES; i++) {
        mmio[i] = (struct hd_mmio){.registers = at[i],
                                   .memory = bytes_at[i],
                                   .memory_bytes = bytes[i],
                                   .irq_pending = port_interrupt};
        hd_mmio_port(&mmio[i], &port[i]);
        port[i].window = NULL; /* has separate memory */
        ports[i] = &port[i];
    }
    call->ports = ports;
#else
    (void)call;
#endif
    return HD_OK;
}

#if SHARED
/* Return where hd_model_bind places a region: shared, because it is at its device address. */
static uint8_t *region(uint32_t index)
{
    return (uint8_t *)(memory[0] + (uintptr_t)hd_model_region_offset(&hd_model, index));
}

static int place_buffers(struct hd_call *call)
{
    const uint32_t n = hd_model.n_inputs + hd_model.n_outputs;

    if (hd_model_device_bytes(&hd_model) > memory_bytes[0])
        return fail("the network needs more than HD_MEMORY_BYTES of the accelerator's memory", "");
    for (uint32_t i = 0; i < n; i++)
        buffer[i] = region(HD_REGION_IO + i);
    *call =
        (struct hd_call){.arena = region(HD_REGION_ARENA),
                         .in = buffer,
                         .out = buffer + hd_model.n_inputs,
                         .state = HD_REGION_IO + n < HD_REGIONS ? region(HD_REGION_IO + n) : state};
    if (hd_model.reset_state)
        hd_model.reset_state(call->state);
    return 0;
}

/* Check that the next region begins where the arena ends. */
static int check_arena(void)
{
    return 0;
}
#else
static int place_buffers(struct hd_call *call)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < hd_model.n_inputs + hd_model.n_outputs; i++) {
        const struct hd_io *x =
            i < hd_model.n_inputs ? &hd_model.inputs[i] : &hd_model.outputs[i - hd_model.n_inputs];
        buffer[i] = io + at;
        at += (x->n_bytes + 63) / 64 * 64;
    }
    *call = (struct hd_call){
        .arena = arena, .in = buffer, .out = buffer + hd_model.n_inputs, .state = state};
    for (uint32_t i = 0; i < GUARD; i++)
        arena[MODEL_ARENA_BYTES + i] = GUARD_BYTE;
    if (hd_model.reset_state)
        hd_model.reset_state(state);
    return 0;
}

static int check_arena(void)
{
    for (uint32_t i = 0; i < GUARD; i++)
        if (arena[MODEL_ARENA_BYTES + i] != GUARD_BYTE)
            return fail("the arena is too small: the guard after it is overwritten", "");
    return 0;
}
#endif

/* "in_3.bin" */
static const char *file_name(const char *stem, uint32_t i)
{
    static char name[16];
    uint32_t n = 0;

    while (*stem)
        name[n++] = *stem++;
    if (i >= 10)
        name[n++] = (char)('0' + i / 10);
    name[n++] = (char)('0' + i % 10);
    for (const char *end = ".bin"; *end; end++)
        name[n++] = *end;
    name[n] = '\0';
    return name;
}

static int open_files(void)
{
    for (uint32_t i = 0; i < hd_model.n_inputs + hd_model.n_outputs; i++) {
        int out = i >= hd_model.n_inputs;
        const char *name = file_name(out ? "out_" : "in_", out ? i - hd_model.n_inputs : i);

        file[i] = port_open(name, out);
        if (file[i] < 0)
            return fail("cannot open ", name);
    }
    return 0;
}

/* Return 1 if all inputs of one more inference were read. */
static int read_inputs(void)
{
    for (uint32_t i = 0; i < hd_model.n_inputs; i++)
        if (port_read(file[i], buffer[i], hd_model.inputs[i].n_bytes) != hd_model.inputs[i].n_bytes)
            return 0;
    return 1;
}

static int write_outputs(void)
{
    for (uint32_t i = 0; i < hd_model.n_outputs; i++) {
        uint32_t n = hd_model.outputs[i].n_bytes, at = hd_model.n_inputs + i;

        if (port_write(file[at], buffer[at], n) != n)
            return fail("cannot write ", file_name("out_", i));
    }
    return 0;
}

static int run_files(const struct hd_call *call)
{
    uint32_t count = 0;
    int rc = open_files();

    while (rc == 0 && read_inputs()) {
        rc = hd_model.run(call);
        if (rc != HD_OK)
            return fail("inference failed", "");
        rc = write_outputs();
        count++;
    }
    for (uint32_t i = 0; i < hd_model.n_inputs + hd_model.n_outputs; i++)
        if (file[i] >= 0)
            port_close(file[i]);
    if (rc == 0)
        print_line("inferences: ", count, "\n");
    return rc;
}

static int time_rounds(const struct hd_call *call, uint32_t rounds)
{
    uint64_t best = UINT64_MAX;

    for (uint32_t i = 0; i < hd_model.n_inputs; i++)
        for (uint32_t k = 0; k < hd_model.inputs[i].n_bytes; k++)
            buffer[i][k] = 1;
    for (uint32_t r = 0; r < rounds; r++) {
        uint64_t start = port_nanoseconds(), taken;

        if (hd_model.run(call) != HD_OK)
            return fail("inference failed", "");
        taken = port_nanoseconds() - start;
        best = taken < best ? taken : best;
    }
    print_line("best: ", best, " ns\n");
    return 0;
}

static int print_memory(void)
{
    print_line("constants: ", MODEL_ALL_CONSTANT_BYTES + MODEL_COMMAND_BYTES, " bytes\n");
    print_line("arena: ", MODEL_ARENA_BYTES, " bytes\n");
    print_line("inputs and outputs: ", MODEL_IO_BYTES, " bytes\n");
    if (port_stack_bytes())
        print_line("stack: ", port_stack_bytes(), " bytes\n");
    return check_arena();
}

int package_main(uint32_t rounds)
{
    struct hd_call call;
    int rc;

    if (hd_model.n_inputs + hd_model.n_outputs > MAX_FILES)
        return fail("more inputs and outputs than main.c has room for", "");
    rc = place_buffers(&call);
    if (rc != 0)
        return rc;
    if (open_devices(&call) != HD_OK)
        return fail("this network has accelerator parts: define HD_REGISTERS, HD_MEMORY and "
                    "HD_MEMORY_BYTES, or use heddle run",
                    "");
    if (open_cores(&call) != HD_OK)
        return fail("HD_CORE_REGISTERS: expected a value for each of hd_model.port_names", "");
    rc = rounds ? time_rounds(&call, rounds) : run_files(&call);
    return rc ? rc : print_memory();
}
