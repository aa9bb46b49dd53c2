/* shared.c - memory that the processes of a run share: each one's results, and all outputs. */
#define _GNU_SOURCE
#include "shared.h"

#include "times.h"

#include <sys/mman.h>
#include <unistd.h>

/* Size per process; a multiple of 64 bytes. */
static size_t results_bytes(const struct job *job, const struct run_measured *m)
{
    size_t n = sizeof *m->shared + job->p->graph->n_row * sizeof(struct run_row);

    return (n + 63) / 64 * 64;
}

struct run_shared *run_results(const struct job *job, const struct run_measured *m,
                               uint32_t process)
{
    return (struct run_shared *)(void *)((uint8_t *)m->shared + process * results_bytes(job, m));
}

void run_add_rows(const struct job *job, struct run_shared *shared, const struct hd_sim_row *from,
                  uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (from[i].layer >= job->p->graph->n_row)
            continue;
        struct run_row *to = &shared->row[from[i].layer];
        to->cycles += from[i].cycles;
        to->array_cycles += from[i].array_cycles;
        to->vector_cycles += from[i].vector_cycles;
        to->read_bytes += from[i].read_bytes;
        to->write_bytes += from[i].write_bytes;
        for (uint32_t u = 0; u < HD_SIM_UNITS; u++)
            for (uint32_t k = 0; k < HD_SIM_KINDS; k++)
                to->counter[u][k] += from[i].counter[u][k];
    }
}

bool run_traced(const struct job *job)
{
    return job->out_dir && !job->options->no_report && job->options->engine == ENGINE_RTL &&
           !job->package; /* the commands of a package have no names */
}

/* Return the number of commands of an inference. */
static uint32_t n_commands(const struct job *job)
{
    return times_first(job->p->program, job->p->program->n_stream);
}

void run_add_times(const struct job *job, struct run_measured *m, uint32_t *n,
                   const struct hd_sim_api *api, struct hd_sim *sim)
{
    const struct hd_sim_command *from;
    const uint32_t n_command = api->commands(sim, &from), most = n_commands(job);

    for (uint32_t i = 0; i < n_command && *n < most; i++) {
        const struct hd_sim_moved *s = &from[i].at_start, *e = &from[i].at_done;

        m->times[(*n)++] = (struct trace_time){
            from[i].start, from[i].done, {s->read, s->written}, {e->read, e->written}};
    }
}

static size_t shared_bytes(size_t n)
{
    return n ? n : 1;
}

static void *share(size_t n)
{
    void *p =
        mmap(NULL, shared_bytes(n), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static size_t times_bytes(const struct job *job, const struct run_measured *m)
{
    return shared_bytes(n_commands(job) * sizeof *m->times);
}

/* Return the host's time slices: one per operator, and three of the driver per submission. Further
 * ones are dropped. */
static uint32_t host_slices(const struct job *job)
{
    return 16 * (job->p->graph->n_op + job->p->program->n_stream) + 16;
}

static size_t host_times_bytes(const struct job *job, const struct run_measured *m)
{
    return sizeof *m->host_times + host_slices(job) * sizeof m->host_times->slice[0];
}

void run_unlock(struct run *run)
{
    if (run->folder.made)
        (void)rmdir(run->job.out_dir); /* only succeeds if it is empty */
    run->folder.made = false;
    if (run->folder.lock > 0)
        (void)close(run->folder.lock - 1);
    run->folder.lock = 0;
}

void run_release(struct run *run)
{
    (void)stage_end(&run->folder.stage, ST_NO_MEMORY, NULL); /* after a run that ended by exhausted
                                                              * memory */
    run_unlock(run);
    if (!run->measured.shared)
        return;
    for (uint32_t i = 0; i < run->job.p->graph->n_out; i++)
        if (run->measured.out[i].bytes)
            (void)munmap(run->measured.out[i].bytes,
                         shared_bytes(run->measured.out[i].n_bytes * run->job.n));
    if (run->measured.times)
        (void)munmap(run->measured.times, times_bytes(&run->job, &run->measured));
    if (run->measured.host_times)
        (void)munmap(run->measured.host_times, host_times_bytes(&run->job, &run->measured));
    run->measured.host_times = NULL;
    (void)munmap(run->measured.shared,
                 shared_bytes(run->measured.n_process * results_bytes(&run->job, &run->measured)));
    run->measured.times = NULL;
    run->measured.shared = NULL;
}

void run_outputs(const struct job *job, struct run_measured *m)
{
    const struct ir_graph *g = job->p->graph;

    m->out = ARENA_ARRAY(job->arena, struct run_data, g->n_out + 1);
    for (uint32_t i = 0; i < g->n_out; i++)
        m->out[i].n_bytes = ir_border_bytes(g->tensor[g->out[i]]);
}

enum status run_share(const struct job *job, struct run_measured *m, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;

    m->shared = share(m->n_process * results_bytes(job, m));
    if (!m->shared)
        return FAIL(d, ST_NO_MEMORY, "no memory to share with the child process");
    if (run_traced(job) && !(m->times = share(times_bytes(job, m))))
        return FAIL(d, ST_NO_MEMORY, "no memory for the times of %u commands", n_commands(job));
    if (run_traced(job) && job->options->host != HOST_NATIVE) {
        if (!(m->host_times = share(host_times_bytes(job, m))))
            return FAIL(d, ST_NO_MEMORY, "no memory for what the processor did");
        m->host_times->most = host_slices(job);
    }
    for (uint32_t i = 0; i < g->n_out; i++)
        if (!(m->out[i].bytes = share(m->out[i].n_bytes * job->n)))
            return FAIL(d, ST_NO_MEMORY, "no memory for %u inferences of output %u", job->n, i);
    return ST_OK;
}
