/* compare_layers.h - compare each layer's bytes with the CPU reference during the run.
 * in:  a compiled network, its inputs.   out: bytes compared and wrong by row, the first wrong
 * layer.
 *
 * Two comparisons, which meet at the tensors of the compiled graph:
 * - the graph as imported and the compiled one, both on the reference kernels, by the tensors that
 *   have one name in both (compare_reference.c): the passes of the compiler;
 * - the compiled graph on the reference kernels and what is executed: each write of a command into
 *   its result, inputs and outputs of each host call, the state after an inference. */
#ifndef HEDDLE_COMPARE_COMPARE_LAYERS_H
#define HEDDLE_COMPARE_COMPARE_LAYERS_H

#include "app/job/shared.h"

struct compare;
struct ref;
struct runner;

/* Make results->compare; NULL if no layer is compared (--compare=outputs, job->tolerance, a
 * simulated host). */
void compare_open(struct job *job, struct run_results *results);

/* Return the number of inferences compared: the first ones, as many as the reference runs in a few
 * seconds. */
uint32_t compare_inferences(const struct compare *c);

/* --- the parent, before the run --- */

/* Run inference k on the compiled graph. imported: the reference of job->p->reference, which has
 * just run it. Keeps the bytes for the processes while memory allows. */
enum status compare_reference(struct compare *c, struct ref *imported, uint32_t k, struct diag *d);

/* --- a process of the run --- */

/* Watch the commands of p's accelerators from now on; `shared` receives the results. */
void compare_attach(struct compare *c, struct runner *p, struct run_shared *shared);
/* Called when inference k begins, when the emitted run() enters a host call or submission, and when
 * the inference ends. */
enum status compare_begin(struct compare *c, uint32_t k, struct diag *d);
void compare_enter(struct compare *c, uint32_t submission);
void compare_end(struct compare *c);

/* --- afterwards --- */

/* Discard the results of the processes, before the same inferences run again. */
void compare_forget(const struct job *job, struct run_measured *m);
/* Set results->layers. A layer that differs is a mismatch, even if the outputs are equal. */
void compare_judge(const struct job *job, const struct run_measured *m,
                   struct run_results *results);
/* Return ST_MISMATCH with a message if only layers differ. */
enum status compare_fail(const struct run_results *results, struct diag *d);
/* Return "05_conv2d: 12 of 512 values differ, the first at [0,3,1,2]: expected -3, found 5". */
const char *compare_first_text(const struct job *job, const struct run_results *results);
/* Return the number of the host call that computed the first wrong value, counted from 0 over all
 * host calls and submissions of an inference; IR_NONE: none did. */
uint32_t compare_first_step(const struct run_results *results);
/* Return where the first wrong value is in the memory of p; NULL: in none of the host. */
const uint8_t *compare_first_address(const struct run_results *results, const struct runner *p);
/* Return the row of the first wrong layer; IR_NONE: none is wrong. */
uint32_t compare_first_row(const struct job *job, const struct run_results *results);

#endif
