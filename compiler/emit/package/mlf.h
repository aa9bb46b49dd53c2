/* mlf.h - a package in TVM's Model Library Format, version 7, module "default", executor "aot". in:
 * emitted code, the package that heddle itself would write. out: a package with metadata.json;
 * codegen/host/src and include, which any C11 compiler builds with no flag other than -I of the
 * latter; parameters/default.params. */
#ifndef HEDDLE_COMPILER_EMIT_PACKAGE_MLF_H
#define HEDDLE_COMPILER_EMIT_PACKAGE_MLF_H

#include "emit_package.h"

/* ST_UNSUPPORTED if the network has accelerator commands or two files have one name. */
enum status mlf_make(const struct emit_unit *u, const struct package *from, struct package **mlf,
                     struct diag *d);

/* mlf_interface.c: write the names of inputs or outputs as unique fields of a C struct. */
const char *const *mlf_fields(const struct emit_unit *u, const uint32_t *id, uint32_t n);
/* Write tvmgen_default.h, and the C that defines its function. */
void mlf_header(const struct emit_unit *u, struct text *t);
void mlf_source(const struct emit_unit *u, struct text *t);

/* mlf_metadata.c */
void mlf_metadata(const struct emit_unit *u, struct text *t);
/* Write the constants of the compiled network by name, in TVM's parameter format. */
void mlf_parameters(const struct emit_unit *u, struct text *t);

#endif
