/* run.h - "heddle run": inputs in, engine, outputs, verdict, stats, report.
 * The emitted C is compiled into a shared object and runs in a child process with the device
 * (functional model or Verilated model); parent and child share one block of memory, so that a
 * crash still names the operator. */
#ifndef HEDDLE_RUN_H
#define HEDDLE_RUN_H

#include <sys/types.h>

#include "app/options/options.h"
#include "base/stage.h"
#include "sim/hash.h"
#include "sim/hd_sim.h"

/* WITHIN: not equal, but no further apart than --tolerance or the targets' patterns (target.json)
 * allow. */
enum run_verdict { VERDICT_MATCH, VERDICT_MISMATCH, VERDICT_UNCHECKED, VERDICT_WITHIN };

/* Inferences of one input or output, one after another. */
struct run_data {
    uint8_t *bytes;
    uint64_t n_bytes; /* of one inference */
};

/* Values of one layer that were compared with the reference's, and those that differ. */
struct compare_row {
    uint64_t compared, wrong;
};

/* The first layer that differs: in the first inference that does, by the order of operators. */
struct compare_first {
    bool found;
    bool compiler; /* the compiled graph already differs from the one as imported */
    uint32_t inference, position, tensor; /* operator and tensor of the compiled graph */
    uint64_t compared, wrong, index;      /* values; index: flat, of the first wrong one */
    uint8_t want[8], got[8];
};

/* Layers that were compared, of which all values are equal, and the first that differs. */
struct compare_sums {
    uint32_t n_layers, n_equal;
    uint32_t n_inferences; /* compared: the first ones of the run */
    struct compare_first first;
};

/* The report of a child process; in shared memory, of fixed size apart from the rows that
 * follow. */
struct run_shared {
    volatile uint32_t layer, submission; /* being executed; 0 or 1 + the device's index */
    volatile uint32_t inference;         /* being executed */
    volatile uint32_t inferences;        /* completed by this process */
    volatile uint32_t working;           /* layer of the last command started */
    int state;                           /* as waitpid gave it; not 0: it crashed */
    enum status status;
    char message[4096];
    uint64_t cycles;      /* sums over the inferences */
    int32_t code;         /* of --prog on the board: what hd_program returned */
    uint32_t submissions; /* likewise */
    uint64_t read_bytes, write_bytes;
    uint64_t fault_beats; /* of the kind of --bus-fault, at most, of one accelerator */
    bool fault_happened;  /* --bus-fault, of any */
    double wall_seconds;
    uint64_t sim_cycles;
    /* --host=iss, rtl: cycles, sums over the inferences: in all; host operators and what is around them;
     * the driver while the accelerator rests, and while it works. */
    struct run_host {
        uint64_t total, operators, driver, waiting;
        uint64_t
            split[4]; /* of driver: before the doorbell, in register accesses, until it knows of
                            * the end, after that */
        uint64_t accesses; /* of the accelerator's registers */
        bool by_row;       /* host_cycles of rows are known */
    } host;
    uint64_t core_cycles, core_read_bytes, core_write_bytes; /* of other targets' cores */
    uint64_t wave_cycles, wave_bytes;                        /* in the file; 0 without */
    uint32_t wave_limited;                                   /* it reached --waves-limit */
    struct compare_first first;
    uint64_t counter[HD_SIM_UNITS * HD_SIM_KINDS]; /* of the first inference, from the registers */
    struct run_row {
        uint64_t cycles, counter[HD_SIM_UNITS][HD_SIM_KINDS], read_bytes, write_bytes;
        uint64_t array_cycles, vector_cycles;
        struct compare_row compare;
        uint64_t host_cycles,
            driver_cycles; /* --host=iss, rtl: the driver's are among the host's */
        uint64_t core_counter[TARGET_MAX][HD_SIM_COUNTERS]; /* by index in struct core_targets */
    } row[]; /* n_row: sums over the inferences (struct hd_sim_row) */
};

struct core_targets;
struct oracle_answer;
struct energy_table;
struct trace_time;
struct trace_host_time;

/* Bytes that a caller gives in place of a file; data NULL: none. */
struct run_bytes {
    const uint8_t *data;
    size_t n_bytes;
};

struct run_job {
    struct arena *arena; /* of the run; the model's is p->arena */
    const struct options *options;
    struct pipeline *p;
    struct run_bytes model; /* wins over the file that options->model names */
    const struct run_bytes *given_in, *given_expect; /* each OPTIONS_MAX_FILES, or NULL */
    struct run_package *package;                     /* NULL: a model */
    bool program;   /* --prog on the board: no model, nothing to infer */
    uint32_t n;     /* inferences */
    bool generated; /* their inputs (generate.h) */
    struct run_data *in, *out, *expected;
    const char *checked_against; /* "ref" or "expect" */
    const char *expected_from;   /* where those came from, as text; NULL: the reference */
    enum run_verdict verdict;
    double tolerance;  /* of differences, as a part of an output's range; 0: none are allowed */
    double difference; /* the largest that the patterns allowed */
    struct compare *compare; /* layers (compare_layers.h); NULL: outputs alone */
    struct compare_sums layers;
    struct run_differ *differ; /* of each output (difference.h); NULL unchecked */
    uint64_t n_wrong;          /* inferences that differ by more than is allowed */
    uint32_t first_wrong;      /* the first of them */
    int32_t *label;            /* NULL without labels */
    uint32_t n_right;
    const char *model_path, *zoo; /* zoo: the network's folder, or NULL */
    const char *out_dir;          /* or NULL */
    struct stage stage;           /* while files of out_dir are written */
    bool out_made;                /* by this run, which has not ended well yet */
    int out_lock;                 /* its descriptor + 1, while it is locked */
    uint32_t n_process;           /* of func and rtl, as are: */
    struct run_shared *shared;    /* of process 0, in the end of all */
    const struct energy_table *energy;
    struct trace_time *times; /* shared too: of each command of the first inference, one stream
                                     after another, as measured; NULL: not wanted */
    struct trace_host_time *host_times; /* likewise of the simulated processor; NULL: none */
    struct core_targets *cores; /* Verilated cores of other targets; NULL until rtl needs them */
    struct sim_model *cpu;      /* of --host=rtl (sim/cpu); else NULL */
    double ref_seconds;
    struct oracle_answer *oracle; /* --oracle: the answer of the framework; NULL: none */
    bool writes;                  /* a command: a mismatch leaves files without -o too */
};

/* Seconds of a clock that never goes back. */
double run_now(void);

/* "heddle run" and "heddle bench": job->arena, options and p (with its arena) are set. On ST_OK and
 * ST_MISMATCH the outputs are in job->out until run_release. */
enum status run_command(struct run_job *job, struct diag *d);
/* Its two steps for a network or a package: up to partition; the rest, as often as one likes with
 * a new job that has the same p, model_path, zoo and package. */
enum status run_load(struct run_job *job, struct diag *d);
enum status run_loaded(struct run_job *job, struct diag *d);
/* Compute outputs and verdict of a loaded network; print and write nothing. */
enum status run_answer(struct run_job *job, struct diag *d);
/* The largest difference of two tensors' bytes, as a part of the range: of float32 the largest
 * magnitude of `want`, else 255 steps. Infinite where only one is a number. */
double run_difference(const struct ir_tensor *t, const uint8_t *want, const uint8_t *got);
/* All inferences of job->in with the reference kernels, into to[n_out], which it allocates. */
enum status run_with_reference(struct run_job *job, struct run_data *to, struct diag *d);
/* ST_USAGE: calls, sources or Verilog of an external target, which job->p->emitted would have
 * executed, are not trusted (--allow-native-targets). */
enum status run_trusted(const struct run_job *job, struct diag *d);

/* inputs.c: the model's path (a zoo name is looked up), inputs, expectations, labels. */
enum status run_find_model(struct arena *a, const struct options *o, struct run_job *job,
                           const char **name, struct diag *d);
/* Find it and take it up to partition. */
enum status run_front(struct run_job *job, struct diag *d);
enum status run_inputs(struct run_job *job, struct diag *d);
enum status run_expectations(struct run_job *job, struct diag *d);

/* run_folders.c: where headers and libraries of targets are, as target.json has it. */
struct run_folders {
    uint32_t n_include, n_library;
    const char *const *include, *const *library;
};
struct run_folders run_folders_of(const struct emit_unit *u);
/* -I, -L and -rpath of a C compiler, NULL at their end. ST_USAGE: a variable is not set, a folder is
 * not found. */
enum status run_folders(struct arena *a, const struct run_folders *f, const char *const **flags,
                        struct diag *d);
/* The same of a package in `folder`, and the names of its libraries, NULL at their end. */
enum status run_package_flags(struct arena *a, const char *folder, const char *const **folders,
                              const char *const **libraries, struct diag *d);
/* The folders, and what they hold of the libraries that are linked. */
enum status run_hash_folders(struct arena *a, const struct emit_unit *u, struct hash128 *h,
                             struct diag *d);

/* run_host.c: the emitted C as a shared object, cached by content. */
enum status run_compile(struct arena *a, const struct emit_unit *u, const char **so_path,
                        struct diag *d);
/* The same into `folder`, which is made; not cached. */
enum status run_compile_into(struct arena *a, const struct emit_unit *u, const char *folder,
                             const char **so_path, struct diag *d);
/* Compile one C file of a user (--prog) likewise, with -DHD_N=... of the configuration. */
enum status run_compile_program(struct arena *a, const char *source, const struct hd_config *hw,
                                const char **so_path, struct diag *d);

/* -DHD_N=... of a configuration; NULL at its end. */
const char *const *run_config_flags(struct arena *a, const struct hd_config *hw);

/* Make driver and kernels visible to the emitted or own C that this process loads next. */
enum status run_runtime(struct arena *a, struct diag *d);

/* The package in `folder`, driver and kernels its own, to the object so_path; not cached. Both
 * paths absolute. */
enum status run_compile_package(struct arena *a, const char *folder, const char *so_path,
                                struct diag *d);

/* The folder of job->package; *changes: it is the user's, not of the cache. */
const char *run_package_folder(const struct run_job *job, bool *changes);

/* run_iss.c, of --host=iss and rtl: which it is, whose cycles; what it cannot be given with (ST_USAGE); the program of its
 * processor, an ELF file, from job->package or job->p->emitted. ST_UNSUPPORTED: several accelerators, more cores than the
 * board has addresses for, targets with libraries. */
const char *run_iss_name(const struct options *o);
const struct iss_cycles *run_iss_core(const struct options *o);
enum status run_iss_check(const struct run_job *job, struct diag *d);
/* Build what executes for --host=rtl. */
enum status run_iss_processor(struct run_job *job, const char *cache, struct diag *d);
enum status run_iss_compile(struct run_job *job, const char **elf, struct diag *d);

/* run_package.c: is `path` a package of "heddle compile" (a .tar file, or a folder with
 * metadata.json), and the run of one, in two steps. */
bool run_is_package(struct arena *a, const char *path);
enum status run_package_load(struct run_job *job, struct diag *d);
enum status run_package(struct run_job *job, struct diag *d);

/* run_shared.c: job->shared and the outputs, in memory that processes share; the results of one. */
enum status run_share(struct run_job *job, struct diag *d);
struct run_shared *run_results(const struct run_job *job, uint32_t process);
/* Add what the layers of a submission cost (hd_sim_api.rows). */
void run_add_rows(const struct run_job *job, struct run_shared *to, const struct hd_sim_row *from,
                  uint32_t n);
/* Give back what is not in arenas. */
void run_release(struct run_job *job);
void run_unlock(struct run_job *job);

/* processes.c: run all inferences on func or rtl in child processes. */
enum status run_engine(struct run_job *job, const char *so_path, struct diag *d);
/* program.c, program_iss.c: --prog. */
enum status run_program_iss(struct arena *a, const struct options *o, struct diag *d);
enum status run_program(struct arena *a, const struct options *o, struct diag *d);

/* progress.c: wait for the child; meanwhile, if stderr is a terminal, one line that states where it
 * is. Returns its wait status. */
int run_watch(const struct run_job *job, pid_t child);

/* run_pages.c: is the first inference to be traced, commands of it; trace.json and report.html. */
bool run_traced(const struct run_job *job);
uint32_t run_trace_commands(const struct run_job *job);
/* run_shared.c: the times of the commands of the submission that ended; *n: how many of job->times
 * are there. */
void run_add_times(struct run_job *job, uint32_t *n, const struct hd_sim_api *api,
                   struct hd_sim *sim);
enum status run_pages(const struct run_job *job, const char *folder, struct diag *d);

/* stats.c: results as JSON of schema heddle.stats.v2; cJSON_Delete frees it. */
struct cJSON *run_stats_json(const struct run_job *job);
enum status run_stats(const struct run_job *job, const char *path, struct diag *d);

/* report_first.c: "match: 1 output of 360 inferences equal, bit for bit, to ...": what a verdict of "match" covers. */
const char *run_match_text(const struct run_job *job);
/* How much of it: -q, as it is, -v. */
enum report_detail { REPORT_VERDICT, REPORT_LAYERS, REPORT_UNITS };
enum report_detail run_detail(const struct options *o);
void run_report(const struct run_job *job, struct text *t, enum options_format format,
                enum report_detail detail);
/* "heddle report FILE". */
enum status run_report_file(struct arena *a, const char *path, enum options_format format,
                            enum report_detail detail, struct text *t, struct diag *d);

#endif
