/* gen.h - the files that hdgen writes, each as text. */
#ifndef HEDDLE_HW_GEN_GEN_H
#define HEDDLE_HW_GEN_GEN_H

#include "accel.h"
#include "base/text.h"

void gen_c_header(struct text *t, const struct accel *acc);      /* hd_accel.h */
void gen_timing(struct text *t, const struct accel *acc);        /* hd_timing.h */
void gen_tables_header(struct text *t, const struct accel *acc); /* hd_accel_tables.h */
void gen_tables(struct text *t, const struct accel *acc);        /* hd_accel_tables.c */
void gen_sv(struct text *t, const struct accel *acc);            /* hd_accel.svh */
void gen_sv_config(struct text *t, const struct hd_config *c);   /* hd_config.svh */
void gen_doc(struct text *t, const struct accel *acc);           /* REGISTERS.md */
void gen_rdl(struct text *t, const struct accel *acc);           /* registers.rdl */

/* Return "err_cause" as ERR_CAUSE or ErrCause, in the text's arena. */
const char *gen_upper(struct text *t, const char *name);
const char *gen_camel(struct text *t, const char *name);
/* Return the name of a member of accel_members(), or "pad_w4" for the gap at the end of word 4. */
const char *gen_member_name(struct text *t, const struct accel_field *f);

#endif
