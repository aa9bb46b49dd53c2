/* verilog_text.h - Verilog without the comments and blanks that no tool reads, so that a changed comment
 * builds no model. */
#ifndef HEDDLE_SIM_VERILOG_TEXT_H
#define HEDDLE_SIM_VERILOG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Return the text less its comments, with one blank or end of line where there were several; *length is
 * its bytes. Unchanged: strings, escaped identifiers, comments with a word that tools look for
 * ("verilator", "synthesis"). `lines`: as many ends of lines as before, for messages that name lines. */
char *verilog_reduced(struct arena *a, const char *text, size_t n, bool lines, size_t *length);

#endif
