/* partition.h - each operator to a target, accelerator operators to regions.
 * in:  a legalised graph, the targets of the run, the configuration.
 * out: op->target, op->region, op->reason; row->target, row->reason (again once there is a schedule). A region is a run of
 * neighbouring operators of one accelerator in graph order: one submission, so regions are acyclic. */
#ifndef HEDDLE_COMPILER_PARTITION_PARTITION_H
#define HEDDLE_COMPILER_PARTITION_PARTITION_H

#include <cjson/cJSON.h>

#include "compiler/target/target.h"

/* The reason reported for operators that the command line keeps on the host. */
#define PARTITION_KEPT "--keep-on-host"

enum partition_mode {
    PARTITION_COST,     /* least estimated cycles, transfers included; ties: order of --target */
    PARTITION_PRIORITY, /* the first target that takes the operator */
};

/* A row that the schedule found no place for on a target; the rule that failed, as text. */
struct partition_unfit {
    uint32_t row, target;
    const char *why;
};

struct partition_options {
    enum partition_mode mode;
    /* Rows by name ("03_conv2d") or pattern ("*_conv2d"); offload also NAME=TARGET. */
    uint32_t n_offload, n_keep;
    const char *const *offload, *const *keep;
    struct target_memory memory; /* --mem-latency, --mem-bytes */
    bool sums; /* check-target: every second row in parts of its input channels, if it can be */
    uint32_t n_unfit;
    const struct partition_unfit *unfit;
};

/* Operators that a target takes in one call. */
struct partition_group {
    const char *name; /* of the composite */
    uint32_t target, n;
    struct ir_op **op;
    double cycles;
    bool chosen;
};

/* A target's answer for an operator. */
struct partition_candidate {
    const char *why; /* NULL: it takes the operator; else the rule that failed */
    double cost;     /* estimated cycles, transfers and submission not included */
    double start;    /* of a submission that begins with it */
    double alone;    /* estimated cycles if only this operator were there */
    const struct partition_group *group; /* it is part of this call; its last one has the cost */
    const struct describe_cut *cut;      /* it takes it in parts; NULL: whole */
};

/* The answers, candidate[op position * targets->n + target]; what inspect prints. */
struct partition {
    const struct ir_graph *graph;
    const struct target_list *targets;
    const struct hd_config *hw;
    const struct partition_candidate *candidate;
    struct target_memory memory;
    uint32_t n_group;
    struct partition_group *group_of_ops;
    uint32_t *in_group; /* like candidate: the group, or IR_NONE */
    double total;       /* what the search compares: all operators and transfers */
    /* By row: what the schedule takes for it on accelerators; NULL before there is one. */
    const uint64_t *row_estimate;
    const uint32_t *group; /* by row: layers that are interleaved (sched_groups), or IR_NONE */
};

/* By cost, nothing forced. */
enum status partition_run(struct ir_graph *g, const struct target_list *targets,
                          const struct hd_config *hw, struct diag *d);
/* ST_USAGE: a name that matches no operator, or an operator that cannot go where it should. */
enum status partition_with(struct ir_graph *g, const struct target_list *targets,
                           const struct hd_config *hw, const struct partition_options *o,
                           struct partition *p, struct diag *d);

/* Each operator has a target that exists; those of accelerators, and no others, have a region, and
 * a region has one accelerator. ST_INTERNAL names the operator that has not. */
enum status partition_check(const struct ir_graph *g, const struct target_list *targets,
                            struct diag *d);

/* Name the target of each row, where most of its cycles are: by the partition's costs, or, with
 * p->row_estimate, by the schedule's cycles for it; and the reason of its operator there. */
void partition_name_rows(const struct partition *p, struct ir_graph *g);

/* Set the estimate of an operator on its target, in cycles of the target's clock. */
void partition_set_cost(struct partition *p, uint32_t i, double cycles);
/* Cycles of the operator at position `i` where it is. Those of an accelerator are its row's as the
 * schedule has them (p->row_estimate), counted at the row's first operator there; those of a group
 * are of all of it. */
double partition_cycles(const struct partition *p, uint32_t i);
/* The group of the operator at position `i`, IR_NONE if it is in none. */
uint32_t partition_group(const struct partition *p, uint32_t i);

/* State and cost of a row on target `k`: whether one of its operators is there, and their
 * cycles. For an accelerator these are the schedule's cycles of the row, or of its group, as in
 * reports. If not chosen: the cycles if all of the row were there, each operator alone. */
struct partition_at {
    bool chosen;
    double cycles;
    uint32_t group; /* or IR_NONE */
};
struct partition_at partition_at(const struct partition *p, uint32_t row, uint32_t k);
/* The operator that speaks for a row: of those whose target the row names the one that computes
 * most, the first of several alike; or IR_NONE. */
uint32_t partition_position(const struct partition *p, uint32_t row);

/* "heddle inspect": for each row of the model where it goes, what every target would take for it,
 * and which rule refused it. */
void partition_print(const struct partition *p, struct text *t);
/* Print for each row with constant channels their numbers, their value, and the interval that
 * proves it; nothing without any. Values of a uint8 network are those of int8. */
void partition_print_constants(const struct ir_graph *g, struct text *t);
/* inspect_json.c: the same as member "layers" of `o`. */
void partition_json(const struct partition *p, cJSON *o);
/* Print node data of Google's Model Explorer, by the names of output tensors: number `what` of
 * partition_node_data_names (with NULL at the end), as JSON. */
extern const char *const partition_node_data_names[];
void partition_node_data(const struct partition *p, uint32_t what, struct text *t);
/* draw_graph.c: the partitioned graph for Graphviz, and drawn. */
void partition_dot(const struct partition *p, struct text *t);
void partition_svg(const struct partition *p, struct text *t);

/* Estimated cycles to move tensor `id` between the targets that make and read it. */
double partition_transfer(const struct partition *p, uint32_t id);

/* partition_search.c: op->target of least total cost among those that candidates allow; ties: list
 * order. fixed: by op position, true if op->target must stay. */
void partition_search(struct partition *p, struct ir_graph *g, const bool *fixed);

/* late_reads.c: find a new order of operators; false: there is nothing to move. */
bool partition_late_reads(const struct target_list *targets, struct ir_graph *g);

/* border.c: the QUANTIZEs that flip uint8 or quantise float32 at the network's border are dead where
 * accelerators alone touch the int8 tensor, which takes the border's place. Returns whether there
 * are any. */
bool partition_border(const struct target_list *targets, struct ir_graph *g);
/* Return true if LOAD or STORE can do the operator, such a QUANTIZE. */
bool partition_at_border(const struct ir_graph *g, const struct ir_op *op);

#endif
