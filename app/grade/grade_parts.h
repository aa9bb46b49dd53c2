/* grade_parts.h - declarations shared by the parts of grade-target. */
#ifndef HEDDLE_GRADE_PARTS_H
#define HEDDLE_GRADE_PARTS_H

#include "app/check/check_round.h"

enum grade_verdict { GRADE_OPEN, GRADE_KILLED, GRADE_EQUAL };

/* Stages that a mutant can be past, in this order; from GRADE_SEEDS on: check-target with further seeds. */
enum grade_stage { GRADE_USUAL, GRADE_ENDS, GRADE_NETWORKS, GRADE_EQUALITY, GRADE_SEEDS };

struct mutant {
    uint32_t number;          /* from 1 */
    const char *options;      /* of yosys' mutate */
    const char *where, *what; /* "vanilla_core.sv:135", "ix[20]: always 1" */
    enum grade_verdict verdict;
    uint32_t stage; /* the first that it is not past, or the one that decided */
    bool effect;    /* it changed its bit in some cycle */
    const char
        *text; /* of its death: the operator and the byte; without: the first that it changed */
};

struct grade {
    struct arena *arena;
    const struct options *o;
    const char *folder; /* in the cache: netlist.v, results */
    struct output silent;
    struct options quiet; /* for checks: without output, with the netlist */
    struct check check;
    uint32_t n;
    struct mutant *mutant;
    uint64_t register_reads; /* of all runs without a mutant */
    double end;              /* monotonic seconds at which no mutant is begun */
    uint32_t stage;
    const char *network; /* of GRADE_NETWORKS */
};

/* mutants.c: write netlist.v with all mutants, and list them. */
enum status grade_mutants(struct grade *g, struct diag *d);
/* Find those that change nothing: no output depends on them. */
enum status grade_equal(struct grade *g, struct diag *d);
/* kill.c: check.judge: run the cases with each mutant that is open and at g->stage. */
enum status grade_kill(void *ctx, struct check *c, bool first, struct diag *d);
/* Run a network in the place of cases. ST_OK without effect if no operator of it goes to the target. */
enum status grade_network(struct grade *g, const char *name, struct diag *d);
/* cover.c: run check-target's cases on the core with coverage, print what was not covered. */
enum status grade_cover(struct grade *g, struct diag *d);
/* results.c: read and write what is known; print it. Returns the share of decided mutants killed, in percent. */
enum status grade_load(struct grade *g, struct diag *d);
enum status grade_save(const struct grade *g, struct diag *d);
double grade_print(const struct grade *g);

#endif
