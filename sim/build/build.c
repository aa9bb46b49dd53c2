/* build.c - build a shared object from RTL and a configuration. */
#define _GNU_SOURCE
#include "build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/private.h"
#include "base/text.h"
#include "build_files.h"
#include "cached.h"
#include "changed.h"
#include "evict.h"
#include "objects.h"
#include "sim/ports/ports.h"
#include "tools.h"
#include "verilated.h"

struct build {
    struct arena *a;
    const struct sim_paths *paths;
    const struct hd_config *config;
    struct build_files files;
    struct sim_tool verilator, cxx, make;
    const char *processor;   /* x86's name and flags, which decide -march=native; otherwise "" */
    struct tool_watch watch; /* watches its two steps */
    const char *hash, *folder, *final; /* folder: the one being filled, which is then renamed to
                                        * final */
};

/* Measurements behind these flags: sim/README.md, "Flags". */
static const char *const verilator_flags[] = {"--cc",        "-O3",
                                              "--x-assign",  "fast",
                                              "--x-initial", "fast",
                                              "--noassert",  "-DHD_GATE_CLOCKS",
                                              "-DHD_MODEL",  "--output-split",
                                              "20000",       "--output-split-cfuncs",
                                              "2000",        "--unroll-count",
                                              "1024",        "--unroll-stmts",
                                              "200000",      "-Wno-fatal",
                                              "-sv",         "--prefix",
                                              "Vhd_sim_top", "--Mdir",
                                              "obj",         "-Igen",
                                              "-Irtl"};

/* Only for models with waves: without them, Verilator drops signals that nothing reads. */
static const char *const wave_flags[] = {"--trace-fst", "--trace-structs", "--no-trace-params"};

static const char *const coverage_flags[] = {"--coverage-line", "--coverage-toggle"};

/* The processor: RV32IM; it offers unknown instructions to cpu.c (sim/cpu). */
static const char *const cpu_flags[] = {
    "-DRISCV_FORMAL",      "-GENABLE_COUNTERS=0", "-GBARREL_SHIFTER=1", "-GENABLE_PCPI=1",
    "-GENABLE_FAST_MUL=1", "-GENABLE_DIV=1",      "-GREGS_INIT_ZERO=1"};

/* The makefile replaces verilated.mk, which refuses folders with spaces and needs Python. Paths are
 * relative. Objects that the cache has (objects.h) have no rule. There is one precompiled header per
 * optimisation level, since g++ must not mix them. TRACE is code that runs while waves are written,
 * SLOW code that runs once; BUS, of cores, uses only wires and does not depend on the model. The few
 * files of a small model are joined: reading its headers takes longer than the rest. */
static const char makefile[] =
    "include obj/Vhd_sim_top_classes.mk\n"
    "FLAGS := -std=gnu++17 -fPIC -fvisibility=hidden -fno-strict-aliasing -w -Iobj -Igen -Isim \\\n"
    "  \"-I$(VM_ROOT)/include\" \"-I$(VM_ROOT)/include/vltstd\" -DVM_COVERAGE=$(VM_COVERAGE) "
    "-DVM_SC=0 "
    "-DVM_TRACE=$(VM_TRACE) \\\n"
    "  -DVM_TRACE_FST=$(VM_TRACE_FST) -DVM_TRACE_VCD=0 -DVL_USER_FINISH -DVL_USER_STOP "
    "-DVL_USER_FATAL\n"
    "FAST := $(patsubst %,obj/%.o,$(VM_CLASSES_FAST))\n"
    "TRACE := $(patsubst %,obj/%.o,$(VM_SUPPORT_FAST))\n"
    "SLOW := $(patsubst %,obj/%.o,$(VM_CLASSES_SLOW) $(VM_SUPPORT_SLOW))\n"
    "COMMON := $(patsubst %,obj/%.o,$(VM_GLOBAL_FAST) $(VM_GLOBAL_SLOW))\n"
    "BUS := $(patsubst sim/%.cpp,obj/sim_%.o,$(wildcard sim/core*.cpp))\n"
    "SIM := $(filter-out $(BUS),$(patsubst sim/%.cpp,obj/sim_%.o,$(wildcard sim/*.cpp)))\n"
    "HAVE := $(wildcard obj/*.o)\n"
    "FEW := $(if $(word 2,$(SIM))$(word 13,$(FAST) $(TRACE) $(SLOW)),,yes)\n"
    "model.so: $(if $(FEW),obj/fast.o obj/slow.o,$(FAST) $(TRACE) $(SLOW) $(SIM)) $(COMMON) "
    "$(BUS)\n"
    "\t\"$(CXX)\" -shared -Wl,-Bsymbolic -Wl,-z,defs -Wl,-s -o $@ $^ -lpthread -Wl,--as-needed "
    "-lz -latomic\n"
    "obj/fast.o:\n"
    "\tcat $(patsubst %.o,%.cpp,$(FAST) $(TRACE) $(patsubst obj/sim_%,sim/%,$(SIM))) >obj/fast.cc\n"
    "\t\"$(CXX)\" $(FLAGS) $(ARCH) -O3 -c -o $@ obj/fast.cc\n"
    "obj/slow.o:\n"
    "\tcat $(patsubst %.o,%.cpp,$(SLOW)) >obj/slow.cc\n"
    "\t\"$(CXX)\" $(FLAGS) -O0 -c -o $@ obj/slow.cc\n"
    "obj/fast.h obj/slow.h:\n"
    "\tprintf '#include \"Vhd_sim_top__Syms.h\"\\n' > $@\n"
    "obj/fast.h.gch: obj/fast.h\n\t\"$(CXX)\" $(FLAGS) $(ARCH) -O3 -x c++-header -o $@ $<\n"
    "obj/slow.h.gch: obj/slow.h\n\t\"$(CXX)\" $(FLAGS) -O0 -x c++-header -o $@ $<\n"
    "$(filter-out $(HAVE),$(FAST)): obj/%.o: obj/%.cpp obj/fast.h.gch\n"
    "\t\"$(CXX)\" $(FLAGS) $(ARCH) -O3 -include obj/fast.h -c -o $@ $<\n"
    "$(filter-out $(HAVE),$(SLOW)): obj/%.o: obj/%.cpp obj/slow.h.gch\n"
    "\t\"$(CXX)\" $(FLAGS) -O0 -include obj/slow.h -c -o $@ $<\n"
    "$(filter-out $(HAVE),$(TRACE)): obj/%.o: obj/%.cpp\n"
    "\t\"$(CXX)\" $(FLAGS) -O1 -c -o $@ $<\n"
    "$(filter-out $(HAVE),$(COMMON)): obj/%.o:\n"
    "\t\"$(CXX)\" $(FLAGS) -O2 -c -o $@ \"$(VM_ROOT)/include/$*.cpp\"\n"
    "$(filter-out $(HAVE),$(SIM)): obj/sim_%.o: sim/%.cpp obj/fast.h.gch\n"
    "\t\"$(CXX)\" $(FLAGS) $(ARCH) -O3 -include obj/fast.h -c -o $@ $<\n"
    "$(filter-out $(HAVE),$(BUS)): obj/sim_%.o: sim/%.cpp\n"
    "\t\"$(CXX)\" $(FLAGS) -O2 -c -o $@ $<\n";

static enum status find_tools(struct build *b, struct diag *d)
{
    const char *const cache = b->paths->cache;

    TRY(tool_find(b->a, cache, tool_name("HEDDLE_VERILATOR", "verilator"), "verilator",
                  "VERILATOR_ROOT", &b->verilator, d));
    TRY(tool_find(b->a, cache, tool_name("HEDDLE_CXX", "g++"), "g++", NULL, &b->cxx, d));
    return tool_find(b->a, cache, "make", "make", NULL, &b->make, d);
}

/* Return the kind of processor. Machines may share a cache, and each builds for its own kind. */
static const char *processor(struct arena *a)
{
    FILE *const f = fopen("/proc/cpuinfo", "r");
    char *line = NULL;
    size_t room = 0;
    struct text t;

    text_init(&t, a);
    text_add(&t, "");
    while (f != NULL && getline(&line, &room, f) > 0 &&
           line[0] != '\n') /* lines of the first core */
        if (strncmp(line, "model name\t", 11) == 0 || strncmp(line, "flags\t", 6) == 0)
            text_add(&t, line);
    free(line);
    if (f != NULL)
        (void)fclose(f);
    return t.data;
}

static const char *top_of(const struct build *b)
{
    return b->paths->core != NULL  ? b->paths->core->top
           : b->paths->cpu != NULL ? "picorv32"
                                   : "hd_sim_top";
}

/* Return true for a model with waves. A target's core is small, and its clock loop always supports
 * waves. */
static bool with_waves(const struct build *b)
{
    return b->paths->waves || b->paths->core != NULL;
}

/* Hash the declarations of target.json. */
static void hash_core(struct hash128 *h, const struct sim_core *core)
{
    for (uint32_t i = 0; i < core->n_counter; i++)
        hash_string(h, core->counter[i].port);
    for (uint32_t i = 0; i < core->n_declared; i++) {
        const struct sim_declared *const o = &core->declared[i];
        const uint64_t number[] = {o->kind, o->a, o->b};

        hash_bytes(h, number, sizeof number);
        hash_string(h, o->port);
        hash_string(h, o->as != NULL ? o->as : "");
    }
    for (uint32_t i = 0; i < core->n_parameter; i++)
        hash_string(h, core->parameter[i]);
}

/* Registers of cores without a value at the start may have any (core_sim.h). */
static const char *flag_of(const struct build *b, const char *flag)
{
    if (b->paths->checked && strcmp(flag, "--noassert") == 0)
        return "--assert";
    return b->paths->core != NULL && strcmp(flag, "fast") == 0 ? "unique" : flag;
}

static void hash_build(struct build *b)
{
    struct hash128 h;

    hash_init(&h);
    /* Lines are in the messages of assertions, and of the statements in others' Verilog. */
    build_files_hash(b->a, &b->files,
                     b->paths->checked || b->paths->core != NULL || b->paths->cpu != NULL, &h);
    for (size_t i = 0; i < sizeof verilator_flags / sizeof verilator_flags[0]; i++)
        hash_string(&h, verilator_flags[i]);
    for (size_t i = 0; b->paths->cpu != NULL && i < sizeof cpu_flags / sizeof cpu_flags[0]; i++)
        hash_string(&h, cpu_flags[i]);
    hash_string(&h, makefile);
    hash_string(&h, b->processor);
    hash_string(&h, b->paths->checked ? "checked" : "");
    hash_string(&h, with_waves(b) ? "waves" : "");
    hash_string(&h, b->paths->coverage ? "coverage" : "");
    hash_string(&h, top_of(b));
    if (b->paths->core != NULL) {
        hash_string(&h, flag_of(b, "fast"));
        hash_core(&h, b->paths->core);
    }
    tool_hash(&b->verilator, &h);
    tool_hash(&b->cxx, &h);
    hash_string(&h, b->config->name);
    hash_bytes(&h, &b->config->hash, sizeof b->config->hash);
    b->hash = hash_text(b->a, &h);
}

static enum status write_own(const struct build *b, struct diag *d)
{
    struct text t;

    text_init(&t, b->a);
    text_add(&t, makefile);
    TRY(file_write(arena_printf(b->a, "%s/Makefile", b->folder), t.data, t.length, d));
    text_init(&t, b->a);
    text_add(&t, "// hd_sim_config.h - written by sim/build/build.c.\n#define HD_SIM_NAME \"");
    text_add_escaped(&t, b->config->name, sizeof b->config->name);
    text_printf(&t, "\"\n#define HD_SIM_CONFIG_HASH 0x%08xu\n#define HD_SIM_SOURCE_HASH \"%s\"\n",
                b->config->hash, b->hash);
    text_printf(&t, "#define HD_SIM_TOP \"%s\"\n#define HD_SIM_CHECKED %d\n", top_of(b),
                b->paths->checked);
    text_add(&t, "#define HD_CORE_COUNTERS(X)");
    for (uint32_t i = 0; b->paths->core != NULL && i < b->paths->core->n_counter; i++)
        text_printf(&t, " X(%u, %s)", i, b->paths->core->counter[i].port);
    text_add(&t, "\n");
    return file_write(arena_printf(b->a, "%s/gen/hd_sim_config.h", b->folder), t.data, t.length, d);
}

static enum status run_verilator(const struct build *b, const char *log, struct diag *d)
{
    const size_t n_flags = sizeof verilator_flags / sizeof verilator_flags[0];
    const size_t n_wave_flags = with_waves(b) ? sizeof wave_flags / sizeof wave_flags[0] : 0;
    const size_t n_coverage_flags =
        b->paths->coverage ? sizeof coverage_flags / sizeof coverage_flags[0] : 0;
    const size_t n_cpu_flags = b->paths->cpu != NULL ? sizeof cpu_flags / sizeof cpu_flags[0] : 0;
    const size_t n_parameter = b->paths->core != NULL ? b->paths->core->n_parameter : 0;
    const char **const argv =
        ARENA_ARRAY(b->a, const char *,
                    n_flags + n_wave_flags + n_coverage_flags + n_cpu_flags + b->files.n +
                        b->files.n_argument + n_parameter + b->verilator.n_argument + 5);
    size_t n = tool_begin(&b->verilator, argv);

    for (size_t i = 0; i < n_flags; i++)
        argv[n++] = flag_of(b, verilator_flags[i]);
    for (size_t i = 0; i < n_wave_flags; i++)
        argv[n++] = wave_flags[i];
    for (size_t i = 0; i < n_cpu_flags; i++)
        argv[n++] = cpu_flags[i];
    for (size_t i = 0; i < n_coverage_flags; i++)
        argv[n++] = coverage_flags[i];
    for (size_t i = 0; i < n_parameter; i++)
        argv[n++] = arena_printf(b->a, "-G%s", b->paths->core->parameter[i]);
    for (uint32_t i = 0; i < b->files.n_argument; i++)
        argv[n++] = b->files.argument[i];
    argv[n++] = "--top-module";
    argv[n++] = top_of(b);
    for (uint32_t i = 0; i < b->files.n; i++) {
        const char *const name = b->files.file[i].name, *const dot = strrchr(name, '.');

        if (strncmp(name, "inc", 3) == 0)
            continue;
        if (strcmp(dot, ".sv") == 0 || strcmp(dot, ".v") == 0 || strcmp(dot, ".vlt") == 0)
            argv[n++] = name;
    }
    return tool_run_for(b->a, "building the simulator", b->folder, log, argv, &b->watch, d);
}

/* Return where objects are shared, and what they depend on besides their sources. */
static struct objects objects_of(const struct build *b)
{
    struct objects o = {.a = b->a, .cache = b->paths->cache, .folder = b->folder};

    hash_init(&o.tools);
    hash_string(&o.tools, makefile);
    tool_hash(&b->verilator, &o.tools);
    tool_hash(&b->cxx, &o.tools);
    o.model = o.tools;
    hash_string(&o.model, b->processor);
    hash_string(&o.model, with_waves(b) ? "waves" : "");
    hash_string(&o.model, b->paths->coverage ? "coverage" : "");
    return o;
}

/* Return the C++ compiler for `makefile`, which puts it between quotes: /usr/bin/ccache" "g++ */
static const char *quoted_cxx(const struct build *b)
{
    const char **const argv = ARENA_ARRAY(b->a, const char *, b->cxx.n_argument + 1);
    const uint32_t n = tool_begin(&b->cxx, argv);
    struct text t;

    text_init(&t, b->a);
    text_add(&t, "CXX=");
    for (uint32_t i = 0; i < n; i++) {
        text_add(&t, i != 0 ? "\" \"" : "");
        for (const char *c = argv[i]; *c != '\0'; c++)
            text_printf(&t, "%s%c",
                        *c == '$'                     ? "\\$"
                        : strchr("\"\\`", *c) != NULL ? "\\"
                                                      : "",
                        *c);
    }
    return t.data;
}

/* Check the core's ports, and write their bindings for sim/core. */
static enum status bind_ports(const struct build *b, struct diag *d)
{
    struct ports ports;
    struct text t;

    ports_find(b->a, arena_printf(b->a, "%s/obj/Vhd_sim_top.h", b->folder), b->paths->core, &ports);
    TRY(ports_check(b->a, &ports, b->paths->core, d));
    text_init(&t, b->a);
    ports_list(&t, &ports);
    TRY(file_write(arena_printf(b->a, "%s/ports.txt", b->folder), t.data, t.length, d));
    text_init(&t, b->a);
    ports_header(&t, &ports, b->paths->core);
    return file_write(arena_printf(b->a, "%s/gen/hd_core_ports.h", b->folder), t.data, t.length, d);
}

static enum status compile(const struct build *b, struct diag *d)
{
    const char *const log = arena_printf(b->a, "%s/build.log", b->folder);
    struct objects objects = objects_of(b);
    const char *const argv[] = {b->make.path,
                                "-rsj2",
                                "model.so",
                                quoted_cxx(b),
                                b->processor[0] != '\0' ? "ARCH=-march=native" : "ARCH=",
                                arena_printf(b->a, "VM_ROOT=%s", b->verilator.root),
                                NULL};

    const enum status st = run_verilator(b, log, d);

    verilated_warnings(b->a, b->paths->output, log,
                       st == ST_OK ? arena_printf(b->a, "%s/build.log", b->final) : log);
    TRY(st);
    if (b->paths->core != NULL)
        TRY(bind_ports(b, d));
    objects_take(&objects);
    TRY(tool_run_for(b->a, "building the simulator", b->folder, log, argv, &b->watch, d));
    objects_keep(&objects);
    return ST_OK;
}

/* With the lock held, fill a folder next to the final one, then rename it. */
static enum status fill(struct build *b, struct diag *d)
{
    enum status st;

    b->folder = arena_printf(b->a, "%s.part", b->final);
    evict_tree(b->folder); /* left by a build that was killed */
    interrupt_folder(b->folder);
    st = private_dir(b->folder, d);
    if (st == ST_OK)
        st = build_files_write(b->a, &b->files, b->folder, d);
    if (st == ST_OK)
        st = write_own(b, d);
    if (st == ST_OK)
        st = compile(b, d);
    if (st == ST_OK)
        st = cached_seal(b->a, arena_printf(b->a, "%s/model.so", b->folder), d);
    if (st != ST_OK) {
        interrupt_folder(NULL);
        if (st == ST_INTERRUPTED || st == ST_NO_MEMORY)
            evict_tree(b->folder);
        return st; /* on a failure the folder stays, since the message names its log */
    }
    evict_tree(arena_printf(b->a, "%s/obj", b->folder));
    evict_tree(b->final); /* its object was incomplete */
    const int moved = rename(b->folder, b->final);
    interrupt_folder(NULL);
    if (moved != 0)
        return FAIL(d, ST_USAGE, "cannot rename '%s': %s", b->folder, strerror(errno));
    return ST_OK;
}

static enum status build_locked(struct build *b, const char *object, bool *built, struct diag *d)
{
    bool whole;

    TRY(cached_find(b->a, object, &whole, d));
    if (whole) /* another process was faster */
        return ST_OK;
    const char *const what =
        arena_printf(b->a, "Building the %s simulator%s (once for this hardware)...",
                     b->config->name, b->paths->waves ? " with waves" : "");
    if (b->paths->why != NULL)
        output_printf(b->paths->output, OUTPUT_NOTE,
                      "building the %s simulator%s %s (once, about a minute)", b->config->name,
                      b->paths->waves ? " with waves" : "", b->paths->why);
    output_text(b->paths->output, OUTPUT_PROGRESS, what);
    b->watch = (struct tool_watch){b->paths->seconds, b->paths->output, what, tool_now()};
    const enum status st = fill(b, d);
    output_printf(b->paths->output, OUTPUT_PROGRESS, "%s %s, %.0f s\n", what,
                  st == ST_OK ? "done" : "failed", tool_now() - b->watch.begin);
    *built = st == ST_OK;
    const char *const modules = *built ? changed_modules(b->a, b->paths, &b->files) : NULL;
    if (modules != NULL)
        output_printf(b->paths->output, OUTPUT_NOTE,
                      "%s changed since the last build: make check-rtl runs the benches of what "
                      "changed",
                      modules);
    return st;
}

static enum status build_with_lock(struct build *b, const char *object, bool *built, struct diag *d)
{
    enum status st;
    int fd;

    TRY(file_lock(arena_printf(b->a, "%s.lock", b->final), &fd, d));
    st = build_locked(b, object, built, d);
    (void)close(fd);
    return st;
}

enum status sim_build(struct arena *a, const struct sim_paths *paths,
                      const struct hd_config *config, struct sim_model *model, struct diag *d)
{
    struct build b = {.a = a, .paths = paths, .config = config, .processor = processor(a)};
    bool whole;

    *model = (struct sim_model){0};
    TRY(private_dir(paths->cache, d));
    TRY(find_tools(&b, d));
    TRY(build_files_collect(a, paths, config, &b.files, d));
    hash_build(&b);
    b.final = arena_printf(a, "%s/%s", paths->cache, b.hash);
    model->folder = b.final;
    model->path = arena_printf(a, "%s/model.so", b.final);
    model->source_hash = b.hash;
    if (file_exists(b.final))
        TRY(private_dirs(a, paths->cache, b.hash, d));
    TRY(cached_find(a, model->path, &whole, d));
    if (whole) {
        evict_touch(b.final);
        return ST_OK;
    }
    TRY(build_with_lock(&b, model->path, &model->built, d));
    evict_cache(a, paths->cache);
    return ST_OK;
}

enum status sim_ports(struct arena *a, const struct sim_paths *paths,
                      const struct hd_config *config, struct ports *ports, struct diag *d)
{
    struct build b = {.a = a, .paths = paths, .config = config, .processor = ""};

    TRY(private_dir(paths->cache, d));
    TRY(find_tools(&b, d));
    TRY(build_files_collect(a, paths, config, &b.files, d));
    hash_build(&b);
    b.folder = b.final = arena_printf(a, "%s/%s.ports", paths->cache, b.hash);
    b.watch = (struct tool_watch){paths->seconds, paths->output, "reading the ports", tool_now()};
    evict_tree(b.folder);
    TRY(private_dir(b.folder, d));
    TRY(build_files_write(a, &b.files, b.folder, d));
    TRY(run_verilator(&b, arena_printf(a, "%s/build.log", b.folder), d));
    ports_find(a, arena_printf(a, "%s/obj/Vhd_sim_top.h", b.folder), paths->core, ports);
    evict_tree(b.folder);
    return ST_OK;
}
