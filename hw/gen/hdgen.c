/* hdgen.c - write the hardware facts of hw/accel.json for C, SystemVerilog and the docs. */
#include <argp.h>
#include <stdio.h>

#include "base/file.h"
#include "gen.h"

struct options {
    const char *accel, *c_dir, *sv_dir, *config, *svh_dir, *doc, *rdl;
};

static const struct argp_option option_table[] = {
    {"c", 'c', "DIR", 0, "Write hd_accel.h, hd_timing.h, hd_accel_tables.h and hd_accel_tables.c",
     0},
    {"sv", 's', "DIR", 0, "Write hd_accel.svh", 0},
    {"config", 'g', "NAME|FILE", 0, "The configuration of --svh", 0},
    {"svh", 'v', "DIR", 0, "Write hd_config.svh", 0},
    {"doc", 'd', "FILE", 0, "Write the register page", 0},
    {"rdl", 'r', "FILE", 0, "Write the registers as SystemRDL", 0},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case 'c': o->c_dir = arg; break;
    case 's': o->sv_dir = arg; break;
    case 'g': o->config = arg; break;
    case 'v': o->svh_dir = arg; break;
    case 'd': o->doc = arg; break;
    case 'r': o->rdl = arg; break;
    case ARGP_KEY_ARG:
        if (o->accel != NULL)
            argp_error(state, "one ACCEL.json only");
        o->accel = arg;
        break;
    case ARGP_KEY_END:
        if (o->accel == NULL)
            argp_error(state, "expected the name of accel.json");
        if ((o->config == NULL) != (o->svh_dir == NULL))
            argp_error(state, "--config and --svh go together");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static enum status write_in(const char *dir, const char *name, const struct text *t, struct diag *d)
{
    TRY(file_make_dirs(dir, d));
    return file_write(arena_printf(t->arena, "%s/%s", dir, name), t->data, t->length, d);
}

static enum status write_c(struct arena *a, const struct accel *acc, const char *dir,
                           struct diag *d)
{
    struct text t;

    text_init(&t, a);
    gen_c_header(&t, acc);
    TRY(write_in(dir, "hd_accel.h", &t, d));
    text_init(&t, a);
    gen_timing(&t, acc);
    TRY(write_in(dir, "hd_timing.h", &t, d));
    text_init(&t, a);
    gen_tables_header(&t, acc);
    TRY(write_in(dir, "hd_accel_tables.h", &t, d));
    text_init(&t, a);
    gen_tables(&t, acc);
    return write_in(dir, "hd_accel_tables.c", &t, d);
}

static enum status run(struct arena *a, const struct options *o, struct diag *d)
{
    const struct accel *acc;
    struct hd_config config;
    struct text t;

    TRY(accel_load(a, o->accel, &acc, d));
    if (o->c_dir != NULL)
        TRY(write_c(a, acc, o->c_dir, d));
    text_init(&t, a);
    if (o->sv_dir != NULL) {
        gen_sv(&t, acc);
        TRY(write_in(o->sv_dir, "hd_accel.svh", &t, d));
    }
    text_init(&t, a);
    if (o->svh_dir != NULL) {
        TRY(accel_config_find(a, acc, o->config, &config, d));
        gen_sv_config(&t, &config);
        TRY(write_in(o->svh_dir, "hd_config.svh", &t, d));
    }
    text_init(&t, a);
    if (o->doc != NULL) {
        gen_doc(&t, acc);
        TRY(file_write(o->doc, t.data, t.length, d));
    }
    text_init(&t, a);
    if (o->rdl != NULL) {
        gen_rdl(&t, acc);
        TRY(file_write(o->rdl, t.data, t.length, d));
    }
    return ST_OK;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {option_table,
                                     parse_option,
                                     "ACCEL.json",
                                     "Write headers and tables from hw/accel.json.",
                                     0,
                                     0,
                                     0};
    struct arena *a = arena_new(0);
    struct options o = {.accel = NULL};
    struct diag d = {.status = ST_OK};
    enum status st;

    argp_err_exit_status = 2;
    (void)argp_parse(&argp, argc, argv, 0, NULL, &o);
    st = run(a, &o, &d);
    if (st != ST_OK)
        fprintf(stderr, "hdgen: %s\n", d.text);
    arena_free(a);
    return status_exit_code(st);
}
