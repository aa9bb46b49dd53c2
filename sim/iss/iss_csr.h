/* iss_csr.h - traps and control registers, between iss.c and iss_csr.c. */
#ifndef HEDDLE_SIM_ISS_CSR_H
#define HEDDLE_SIM_ISS_CSR_H

#include "iss.h"

/* Execute the Zicsr instruction `word`; false: the register does not exist or cannot be written. */
bool iss_csr_execute(struct iss *c, uint32_t word);

/* Enter the handler: pc, mepc, mcause, mtval, mstatus; without one, c->stopped. */
void iss_trap(struct iss *c, uint32_t cause, uint32_t value);

/* Take the interrupt of highest priority that is pending and enabled. */
void iss_interrupt(struct iss *c);

/* Update the code's owner after a jump at `from`. */
void iss_entered(struct iss *c, uint32_t from);

/* Return from a handler. */
void iss_mret(struct iss *c);

#endif
