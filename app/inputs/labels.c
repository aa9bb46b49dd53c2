/* labels.c - the names of classes that a TFLite file carries: its metadata name a member of the ZIP
 * archive at its end, which has one a line. */
#include "labels.h"

#include <string.h>

#include "compiler/import/tflite/tflite.h"
#include "data.h"
#include "zip.h"

enum { MOST_FILES = 1024 };

static enum status read_member(struct job *job, const char *name, const uint8_t **text, size_t *n,
                               struct diag *d)
{
    const struct pipeline_model *m = &job->p->model;
    struct zip z = {job->arena,     m->path, "archive of associated files", m->data, m->n_bytes,
                    DATA_MAX_BYTES, d};
    struct zip_member *member;
    uint32_t n_member;

    TRY(zip_members(&z, MOST_FILES, &member, &n_member));
    for (uint32_t i = 0; i < n_member; i++)
        if (strcmp(member[i].name, name) == 0)
            return zip_data(&z, &member[i], text, n);
    return FAIL(d, ST_USAGE, "%s: its metadata name the labels '%.80s', which its archive lacks",
                m->path, name);
}

enum status labels_auto(struct job *job, struct diag *d)
{
    const struct pipeline_model *m = &job->p->model;
    const struct ir_graph *g = job->p->graph;
    const uint64_t n_class = g->n_out ? ir_elements(ir_border(g, g->out[0])) : 0;
    const char *name = NULL;
    const uint8_t *text;
    uint64_t n = 0;
    size_t n_bytes;

    if (text_ends(m->path, ".tflite")) {
        const enum status st = tfl_labels(job->arena, m->data, m->n_bytes, &name, d);

        if (st != ST_OK) {
            diag_prefix(d, "%s", m->path);
            return st;
        }
    }
    if (!name)
        return FAIL(d, ST_USAGE,
                    "--labels=auto: %s has no names of its first output's classes; expected a "
                    "TFLite file with metadata and labels",
                    m->path);
    TRY(read_member(job, name, &text, &n_bytes, d));
    job->class_name = ARENA_ARRAY(job->arena, const char *, (size_t)n_class + 1);
    for (size_t at = 0; at < n_bytes && n < n_class; n++) {
        const uint8_t *end = memchr(text + at, '\n', n_bytes - at);
        const size_t length = end ? (size_t)(end - text) - at : n_bytes - at;
        const bool cr = length > 0 && text[at + length - 1] == '\r';

        job->class_name[n] = arena_strndup(job->arena, (const char *)text + at, length - cr);
        at += length + 1;
    }
    return n == n_class ? ST_OK
                        : FAIL(d, ST_USAGE, "%s: labels '%.80s': expected %llu lines, found %llu",
                               m->path, name, (unsigned long long)n_class, (unsigned long long)n);
}
