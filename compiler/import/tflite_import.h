/* tflite_import.h - shared by the files of the TFLite importer. */
#ifndef HEDDLE_IMPORT_TFLITE_IMPORT_H
#define HEDDLE_IMPORT_TFLITE_IMPORT_H

#include "../ir/ir.h"
#include "tflite_shim.h"

struct tfl_importer {
    struct arena *arena;
    const struct tfl_file *file;
    struct ir_graph *g;
    uint32_t *tensor_id;  /* of each file tensor, IR_NONE until first met */
    const uint8_t **copy; /* of each file buffer, NULL until first met */
    struct diag *d;
};

/* What tfl_import does behind tfl_read; tests call it with files that no FlatBuffer could hold. */
enum status tfl_build(struct arena *a, const char *name, const struct tfl_file *file,
                      struct ir_graph **graph, struct diag *d);
/* The IR tensor of file tensor `index`, made and checked at first use. */
enum status tfl_tensor(struct tfl_importer *m, int32_t index, uint32_t *id);
/* The values of constant integer tensor `index` (int32 or int64) as int32. */
enum status tfl_param(struct tfl_importer *m, int32_t index, const char *what, uint32_t *n,
                      const int32_t **value);
/* A new int32 constant. */
uint32_t tfl_new_const(struct tfl_importer *m, const char *name, uint32_t rank, const int32_t *dim,
                       const int32_t *value);
/* Operator `index` of the file: a row and an ir_op. */
enum status tfl_op(struct tfl_importer *m, uint32_t index);

#endif
