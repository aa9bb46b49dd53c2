/* disasm.h - command streams as text. */
#ifndef HEDDLE_COMPILER_SYSTOLIC_LOWER_DISASM_H
#define HEDDLE_COMPILER_SYSTOLIC_LOWER_DISASM_H

#include "compiler/systolic/program/sched_program.h"

/* Print one command as text: "ARRAY 03_conv2d in_row=0x1230 ...". Fields that are 0 are left
 * out. */
void sched_print_command(const struct sched_program *p, const struct sched_command *c,
                         struct text *t);
/* Print all commands, with their start cycles once these are estimated. */
void sched_print(const struct sched_program *p, struct text *t);

#endif
