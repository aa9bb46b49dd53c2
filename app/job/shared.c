/* shared.c - memory that the processes of a run share: results of each, outputs of all. */
#define _GNU_SOURCE
#include "shared.h"

#include "times.h"

#include <sys/mman.h>
#include <unistd.h>

/* Size per process; a multiple of 64 bytes. */
static size_t results_bytes(const struct run_job *job)
{
    size_t n = sizeof *job->shared + job->p->graph->n_row * sizeof(struct run_row);

    return (n + 63) / 64 * 64;
}

struct run_shared *run_results(const struct run_job *job, uint32_t process)
{
    return (struct run_shared *)(void *)((uint8_t *)job->shared + process * results_bytes(job));
}

void run_add_rows(const struct run_job *job, struct run_shared *shared,
                  const struct hd_sim_row *from, uint32_t n)
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

bool run_traced(const struct run_job *job)
{
    return job->out_dir && !job->options->no_report && job->options->engine == ENGINE_RTL &&
           !job->package; /* whose commands have no names here */
}

uint32_t run_trace_commands(const struct run_job *job)
{
    return times_first(job->p->program, job->p->program->n_stream);
}

void run_add_times(struct run_job *job, uint32_t *n, const struct hd_sim_api *api,
                   struct hd_sim *sim)
{
    const struct hd_sim_command *from;
    const uint32_t n_command = api->commands(sim, &from), most = run_trace_commands(job);

    for (uint32_t i = 0; i < n_command && *n < most; i++) {
        const struct hd_sim_moved *s = &from[i].at_start, *e = &from[i].at_done;

        job->times[(*n)++] = (struct trace_time){
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

static size_t times_bytes(const struct run_job *job)
{
    return shared_bytes(run_trace_commands(job) * sizeof *job->times);
}

/* An operator's, and of each submission the driver's three. More are left out. */
static uint32_t host_slices(const struct run_job *job)
{
    return 16 * (job->p->graph->n_op + job->p->program->n_stream) + 16;
}

static size_t host_times_bytes(const struct run_job *job)
{
    return sizeof *job->host_times + host_slices(job) * sizeof job->host_times->slice[0];
}

void run_unlock(struct run_job *job)
{
    if (job->out_made)
        (void)rmdir(job->out_dir); /* if it is empty */
    job->out_made = false;
    if (job->out_lock > 0)
        (void)close(job->out_lock - 1);
    job->out_lock = 0;
}

void run_release(struct run_job *job)
{
    (void)stage_end(&job->stage, ST_NO_MEMORY, NULL); /* of a run that memory ended */
    run_unlock(job);
    if (!job->shared)
        return;
    for (uint32_t i = 0; i < job->p->graph->n_out; i++)
        if (job->out[i].bytes)
            (void)munmap(job->out[i].bytes, shared_bytes(job->out[i].n_bytes * job->n));
    if (job->times)
        (void)munmap(job->times, times_bytes(job));
    if (job->host_times)
        (void)munmap(job->host_times, host_times_bytes(job));
    job->host_times = NULL;
    (void)munmap(job->shared, shared_bytes(job->n_process * results_bytes(job)));
    job->times = NULL;
    job->shared = NULL;
}

enum status run_share(struct run_job *job, struct diag *d)
{
    const struct ir_graph *g = job->p->graph;

    job->shared = share(job->n_process * results_bytes(job));
    if (!job->shared)
        return FAIL(d, ST_NO_MEMORY, "no memory to share with the child process");
    if (run_traced(job) && !(job->times = share(times_bytes(job))))
        return FAIL(d, ST_NO_MEMORY, "no memory for the times of %u commands",
                    run_trace_commands(job));
    if (run_traced(job) && job->options->host != HOST_NATIVE) {
        if (!(job->host_times = share(host_times_bytes(job))))
            return FAIL(d, ST_NO_MEMORY, "no memory for what the processor did");
        job->host_times->most = host_slices(job);
    }
    for (uint32_t i = 0; i < g->n_out; i++)
        if (!(job->out[i].bytes = share(job->out[i].n_bytes * job->n)))
            return FAIL(d, ST_NO_MEMORY, "no memory for %u inferences of output %u", job->n, i);
    return ST_OK;
}
