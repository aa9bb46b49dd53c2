/* sim_core.h - a core of a target's own: its Verilog, and what target.json declares of it. */
#ifndef HEDDLE_SIM_SIM_CORE_H
#define HEDDLE_SIM_SIM_CORE_H

#include <stdint.h>

/* A declaration of "ports" in target.json, which overrules the name of a port (ports.h). */
enum sim_declare {
    SIM_CLOCK,      /* port; ticks a in b cycles of the first clock */
    SIM_RESET_LOW,  /* port */
    SIM_RESET_HIGH, /* port */
    SIM_IRQ_HIGH,   /* port, like the following; "": the core has no interrupt */
    SIM_IRQ_LOW,
    SIM_IRQ_RISING,
    SIM_IRQ_FALLING,
    SIM_REGISTERS, /* port: prefix of the bus */
    SIM_NAME,      /* port, `as` what it is named for */
    SIM_CONSTANT,  /* port; a */
    SIM_MUTANT,    /* port: gets the mutant's number (hd_sim_options) */
};
struct sim_declared {
    enum sim_declare kind;
    const char *port, *as;
    uint64_t a, b;
};

/* A module of a target's own in place of hd_top; its ports: sim/core/README.md. */
struct sim_core {
    const char *folder, *top;
    const char *const
        *verilog; /* files in the folder, or from $NAME/ on; in the order for Verilator */
    uint32_t n_verilog;
    uint32_t n_counter; /* at most HD_SIM_COUNTERS */
    const struct sim_counter {
        const char *name, *port; /* each cycle adds the port's value */
    } * counter;
    uint32_t n_declared;
    const struct sim_declared *declared;
    uint32_t n_parameter;
    const char *const *parameter; /* NAME=VALUE */
    uint32_t n_include, n_list;
    const char *const *include; /* folders of `include, as `verilog` */
    const char *const *list;    /* lists of files (-f), as `verilog` */
    uint32_t n_array;
    const char *const *array; /* arrays that hd_sim_api.array reaches: "mem_q", "u_a.u_b.mem_q" */
};

#endif
