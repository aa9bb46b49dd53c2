/* suite_parts.c - see suite_parts.h. */
#include "suite_parts.h"

#include <string.h>

#include "app/inputs/inputs.h"
#include "app/job/job.h"
#include "app/report/report_read.h"
#include "base/file.h"
#include "base/text.h"
#include "sim/build/hash.h"

enum { MAX_ARGUMENTS = 1 + 64 + 64 };

const char *suite_word(struct suite_planner *p, const cJSON *o, const char *name)
{
    const cJSON *v = report_member(o, name);

    return v ? arena_strdup(p->s->arena, v->valuestring) : NULL;
}

static bool is_path(const char *name)
{
    return strchr(name, '/') || strchr(name, '.');
}

/* Return a path of the suite relative to its folder, as an absolute path. */
static const char *absolute(const struct suite *s, const char *path)
{
    return path[0] == '/' ? path : arena_printf(s->arena, "%s/%s", s->folder, path);
}

/* Add a file. A message about it names the member of the suite that names the file. */
static enum status add_file(struct suite_planner *p, struct hash128 *h, const char *at,
                            const char *path)
{
    struct diag own = {0};

    if (hash_file(p->s->arena, h, path, &own) == ST_OK)
        return ST_OK;
    return json_doc_fail(&p->doc, at, p->d, "%s", own.text);
}

static const char *base_name(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return arena_strndup(a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* --- networks --------------------------------------------------------------------------------- */

/* Add in_0.bin, ... and out_0.bin, ... of a network of tests/models to the hash: the run finds them
 * itself. */
static enum status add_samples(struct suite_planner *p, struct suite_network *n, struct hash128 *h,
                               const char *at, const char *zoo)
{
    static const char *const kinds[] = {"in", "out"};

    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < OPTIONS_MAX_FILES; i++) {
            const char *path = arena_printf(p->s->arena, "%s/%s_%u.bin", zoo, kinds[k], i);
            if (!file_exists(path))
                break;
            TRY(add_file(p, h, at, path));
            n->seeded = n->seeded && k == 1;
        }
    return ST_OK;
}

static enum status find_model(struct suite_planner *p, struct suite_network *n, const char *model,
                              struct hash128 *h, const char *at, const char **argument)
{
    struct options o = {.model = model};
    struct job job = {0};
    struct diag own = {0};
    const char *name;

    *argument = model;
    if (is_path(model) || file_exists(absolute(p->s, model))) {
        *argument = absolute(p->s, model);
        n->name = n->name ? n->name : base_name(p->s->arena, model);
        TRY(add_file(p, h, at, *argument));
    } else {
        if (run_find_model(p->s->arena, &o, &job, &name, &own) != ST_OK)
            return json_doc_fail(&p->doc, at, p->d, "%s", own.text);
        n->name = n->name ? n->name : name;
        TRY(add_file(p, h, at, job.model_path));
    }
    n->model = hash_text(p->s->arena, h);
    return job.zoo ? add_samples(p, n, h, at, job.zoo) : ST_OK;
}

static enum status add_list(struct suite_planner *p, const cJSON *list, const char *option,
                            const char *at, const char **argv, uint32_t *n, struct hash128 *h)
{
    const cJSON *file;
    uint32_t i = 0;

    cJSON_ArrayForEach(file, list)
    {
        const char *path = absolute(p->s, file->valuestring);
        TRY(add_file(p, h, arena_printf(p->s->arena, "%s[%u]", at, i++), path));
        argv[(*n)++] = arena_printf(p->s->arena, "%s%s", option, path);
    }
    return ST_OK;
}

enum status suite_read_network(struct suite_planner *p, const cJSON *o, const char *at,
                               struct suite_network *n)
{
    struct arena *a = p->s->arena;
    const char **argv = ARENA_ARRAY(a, const char *, MAX_ARGUMENTS);
    const bool whole = cJSON_IsObject(o);
    struct hash128 h;

    *n = (struct suite_network){.argv = argv, .n_argv = 1, .seeded = !report_member(o, "inputs")};
    n->name = suite_word(p, o, "name");
    hash_init(&h);
    TRY(find_model(p, n, whole ? suite_word(p, o, "model") : arena_strdup(a, o->valuestring), &h,
                   whole ? arena_printf(a, "%s.model", at) : at, &argv[0]));
    TRY(add_list(p, report_member(o, "inputs"), "--input=", arena_printf(a, "%s.inputs", at), argv,
                 &n->n_argv, &h));
    TRY(add_list(p, report_member(o, "expect"), "--expect=", arena_printf(a, "%s.expect", at), argv,
                 &n->n_argv, &h));
    n->hash = hash_text(a, &h);
    return ST_OK;
}

/* --- configurations, engines, options --------------------------------------------------------- */

enum status suite_read_configuration(struct suite_planner *p, const char *name, const char *at,
                                     struct suite_part *part)
{
    const char **argv = ARENA_ARRAY(p->s->arena, const char *, 1);
    const bool file = is_path(name);
    struct hash128 h;

    hash_init(&h);
    hash_string(&h, name);
    if (file)
        TRY(add_file(p, &h, at, absolute(p->s, name)));
    argv[0] = arena_printf(p->s->arena, "--hw=%s", file ? absolute(p->s, name) : name);
    *part =
        (struct suite_part){file ? base_name(p->s->arena, name) : arena_strdup(p->s->arena, name),
                            hash_text(p->s->arena, &h), argv, 1};
    return ST_OK;
}

/* Return true for options that regress adds to each run. */
static bool is_ours(const char *option)
{
    static const char *const ours[] = {"--hw",    "--engine", "--seed",   "--stats", "--output",
                                       "--input", "--expect", "--format", "--prog",  NULL};
    const size_t n = strcspn(option, "=");

    for (uint32_t i = 0; ours[i]; i++)
        if (strlen(ours[i]) == n && strncmp(option, ours[i], n) == 0)
            return true;
    return strncmp(option, "-i", 2) == 0 || strncmp(option, "-o", 2) == 0;
}

enum status suite_check_option(struct suite_planner *p, const char *option, const char *at)
{
    if (is_ours(option))
        return json_doc_fail(&p->doc, at, p->d,
                             "'%s' is given by regress itself, from another member", option);
    return ST_OK;
}

enum status suite_read_options(struct suite_planner *p, const cJSON *list, const char *at,
                               struct suite_part *part)
{
    struct arena *a = p->s->arena;
    const uint32_t n = (uint32_t)cJSON_GetArraySize(list);
    const char **argv = ARENA_ARRAY(a, const char *, n + 1);
    const cJSON *one;
    struct text t;

    text_init(&t, a);
    text_add(&t, "");
    *part = (struct suite_part){.argv = argv};
    cJSON_ArrayForEach(one, list)
    {
        const char *where = arena_printf(a, "%s[%u]", at, part->n_argv);
        if (one->valuestring[0] != '-' || one->valuestring[1] == '\0')
            return json_doc_fail(&p->doc, where, p->d,
                                 "expected an option of heddle run, as \"--memory=separate\", "
                                 "found \"%s\"",
                                 one->valuestring);
        TRY(suite_check_option(p, one->valuestring, where));
        argv[part->n_argv++] = arena_strdup(a, one->valuestring);
        text_printf(&t, "%s%s", t.length ? " " : "", one->valuestring);
    }
    part->name = t.data;
    return ST_OK;
}
