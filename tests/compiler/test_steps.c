/* Steps of passes.def on texts: <step>/<case>.ir of tests/compiler or its systolic/ is compiled up to that step, whose
 * dump is <case>.out; of <case>_bad.ir it is the message of the step that refuses it, in <case>.err.
 * Options, if not --hw=tiny and (but for knobs/) --no-search: a line "# heddle: --hw=sys8 ...";
 * knobs of the operator at position 1: "# knobs 1: cascade=1 tile_rows=2". UPDATE=1 writes what is
 * found. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "app/options/options.h"
#include "compiler/systolic/schedule/sched.h"
#include "hw/gen/accel.h"
#include "tests/compiler/ir_files.h"

static enum step step;

/* An option of the command line, with "=value" or without. */
static void set_option(struct arena *a, struct option_set *set, const char *word, const char *path)
{
    const char *value = strchr(word, '=');
    struct diag d = {0};

    if (options_set(set, value ? arena_strndup(a, word, (size_t)(value - word)) : word,
                    value ? value + 1 : NULL, &d) != ST_OK)
        fail_msg("%s: %s", path, d.text);
}

/* "name=value" */
static void set_knob(struct sched_knobs *k, const char *word, const char *path)
{
    for (uint32_t i = 0; i < SCHED_KNOBS; i++) {
        const size_t n = strlen(sched_knob_name(i));
        if (strncmp(word, sched_knob_name(i), n) == 0 && word[n] == '=') {
            *sched_knob(k, i) = (uint32_t)strtoul(word + n + 1, NULL, 10);
            return;
        }
    }
    fail_msg("%s: no knob '%s'", path, word);
}

enum { MAX_KNOBS = 64 }; /* operators of a case */

/* The lines that begin with "# heddle:" and "# knobs N:". */
static struct pipeline_options options_of(struct arena *a, const char *path, const char *text)
{
    struct option_set *set = ARENA_NEW(a, struct option_set);
    struct options *o = ARENA_NEW(a, struct options);
    struct sched_knobs *knobs = ARENA_ARRAY(a, struct sched_knobs, MAX_KNOBS);
    struct pipeline_options p;
    struct diag d = {0};
    char *rest = arena_strdup(a, text);

    if (options_init(set, a, o, &d) != ST_OK)
        fail_msg("%s", d.text);
    set_option(a, set, "--hw=tiny", path);
    if (step != STEP_knobs)
        set_option(a, set, "--no-search", path);
    for (char *line = strtok_r(rest, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        uint32_t op = MAX_KNOBS;
        char *words = strchr(line, ':');
        if (strncmp(line, "# heddle:", 9) != 0 && sscanf(line, "# knobs %u:", &op) != 1)
            continue;
        for (char *word = strtok(words + 1, " "); word; word = strtok(NULL, " "))
            if (op < MAX_KNOBS)
                set_knob(&knobs[op], word, path);
            else
                set_option(a, set, word, path);
    }
    if (options_select(set, &d) != ST_OK)
        fail_msg("%s: %s", path, d.text);
    p = options_pipeline(o);
    if (strstr(text, "# knobs"))
        p.schedule.knobs = knobs;
    return p;
}

/* Return `text` with hash(NAME) for the hash of each configuration, since the hash changes with
 * every command's fields. */
static const char *with_names_of_hashes(struct arena *a, const char *text)
{
    const struct accel *acc;
    struct diag d = {0};

    if (accel_load(a, "hw/accel.json", &acc, &d) != ST_OK)
        fail_msg("%s", d.text);
    for (uint32_t i = 0; i < acc->n_configs; i++) {
        const char *hash = arena_printf(a, "0x%08x", acc->configs[i].hash), *at;

        while ((at = strstr(text, hash)) != NULL)
            text = arena_printf(a, "%.*shash(%s)%s", (int)(at - text), text, acc->configs[i].name,
                                at + strlen(hash));
    }
    return text;
}

/* `path` up to `step`. */
static void check_file(struct arena *a, const char *path)
{
    const char *text = ir_text(a, path);
    struct pipeline p = {.arena = a, .options = options_of(a, path, text)};
    const struct pipeline_model m = {"graph.ir", "graph", (const uint8_t *)text, strlen(text)};
    struct diag d = {0};
    struct text found;
    enum status st = pipeline_front_bytes(&p, &m, &d);

    if (st == ST_OK && step >= STEP_devices)
        st = pipeline_run(&p, STEP_devices, step, &d);
    if (ir_ends(path, "_bad.ir")) {
        assert_int_not_equal(st, ST_OK);
        ir_same_as_sibling(a, path, ".err", arena_printf(a, "%s\n", d.text));
        return;
    }
    if (st != ST_OK)
        fail_msg("%s: %s", path, d.text);
    text_init(&found, a);
    pipeline_dump(&p, step, &found);
    ir_same_as_sibling(a, path, ".out", with_names_of_hashes(a, found.data));
}

static void each_case_of(const char *folder, enum step s)
{
    char pattern[80];
    glob_t found;

    (void)snprintf(pattern, sizeof pattern, "tests/compiler/%s/*.ir", folder);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    globfree(&found);
    step = s;
    ir_each(pattern, check_file);
}

/* Run every folder named after a step from the partition on; target/ tests what targets answer in
 * it. */
static void each_folder_of_a_step(void **state)
{
    (void)state;
    for (uint32_t s = STEP_partition; s < STEP_COUNT; s++)
        for (uint32_t k = 0; k < 2; k++) {
            char folder[64];

            (void)snprintf(folder, sizeof folder, "%s%s", k ? "systolic/" : "",
                           pipeline_step_name((enum step)s));
            each_case_of(folder, (enum step)s);
        }
    each_case_of("target", STEP_partition);
}

static void unknown_steps_are_refused(void **state)
{
    enum step s;
    struct diag d = {0};

    (void)state;
    assert_int_equal(pipeline_step_find("estimate", &s, &d), ST_OK);
    assert_int_equal(s, STEP_estimate);
    assert_int_equal(pipeline_step_find("lowre", &s, &d), ST_USAGE);
    assert_string_equal(d.text, "--dump-step: found 'lowre', expected a step; did you mean lower?");
    d = (struct diag){0};
    assert_int_equal(pipeline_step_find("zzz", &s, &d), ST_USAGE);
    assert_ptr_equal(strstr(d.text, "--dump-step: found 'zzz', expected one of import, legalise, "),
                     d.text);
    assert_string_equal(d.text + strlen(d.text) - 6, ", emit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_folder_of_a_step),
        cmocka_unit_test(unknown_steps_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
