/* Parts of heddle tune on texts: tests/app/tune/<part>/<case>.ir, compiled for tiny by rule, or with the
 * options of a line "# heddle: --hw=sys8 ...", gives <case>.out. UPDATE=1 writes what is found.
 *   key/      the cases of the folder whose graph and whose hardware count as the same
 *   store/    the knobs of a line "# knobs 1: tile_rows=2" as a trial has them, read back */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "app/tune/store.h"
#include "compiler/systolic/schedule/sched.h"
#include "tests/compiler/ir_files.h"

struct net {
    const char *path;
    struct options options;
    struct pipeline p;
    struct tune_key key;
};

static void set(struct option_set *s, struct arena *a, const char *word)
{
    const char *value = strchr(word, '=');
    struct diag d = {0};

    if (options_set(s, value ? arena_strndup(a, word, (size_t)(value - word)) : word,
                    value ? value + 1 : NULL, &d) != ST_OK)
        fail_msg("%s", d.text);
}

/* The case, scheduled. */
static struct net *load(struct arena *a, const char *path)
{
    struct net *n = ARENA_NEW(a, struct net);
    struct option_set *s = ARENA_NEW(a, struct option_set);
    const char *text = arena_strdup(a, ir_text(a, path)), *line = strstr(text, "# heddle:");
    const struct pipeline_model m = {"graph.ir", "graph", (const uint8_t *)text, strlen(text)};
    struct diag d = {0};

    assert_int_equal(options_init(s, a, &n->options, &d), ST_OK);
    set(s, a, "--hw=tiny");
    set(s, a, "--no-search");
    char *words = line ? arena_strndup(a, line + 9, strcspn(line + 9, "\n")) : NULL;
    for (char *word = words ? strtok(words, " ") : NULL; word; word = strtok(NULL, " "))
        set(s, a, word);
    assert_int_equal(options_select(s, &d), ST_OK);
    n->path = path;
    n->p = (struct pipeline){.arena = a, .options = options_pipeline(&n->options)};
    if (pipeline_front_bytes(&n->p, &m, &d) != ST_OK || pipeline_schedule(&n->p, &d) != ST_OK ||
        tune_key_of(&n->p, &n->options, &n->key, &d) != ST_OK)
        fail_msg("%s: %s", path, d.text);
    return n;
}

/* --- key --- */

static void key_case(struct arena *a, const char *path)
{
    const struct net *own = load(a, path);
    struct text graph, hardware;
    glob_t found;

    text_init(&graph, a);
    text_init(&hardware, a);
    text_add(&graph, "graph as:");
    text_add(&hardware, "hardware as:");
    assert_int_equal(glob("tests/app/tune/key/*.ir", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const struct net *other = load(a, arena_strdup(a, found.gl_pathv[i]));
        const char *name = strrchr(other->path, '/') + 1;
        const int length = (int)strcspn(name, ".");
        if (strcmp(own->key.graph, other->key.graph) == 0)
            text_printf(&graph, " %.*s", length, name);
        if (strcmp(own->key.hardware, other->key.hardware) == 0)
            text_printf(&hardware, " %.*s", length, name);
        assert_string_equal(own->key.schedule, other->key.schedule);
    }
    globfree(&found);
    ir_same_as_sibling(a, path, ".out", arena_printf(a, "%s\n%s\n", graph.data, hardware.data));
}

static void keys(void **state)
{
    (void)state;
    ir_each("tests/app/tune/key/*.ir", key_case);
}

/* --- store --- */

static void set_knobs(const char *text, const struct knob_shape *shape, struct sched_knobs *knobs)
{
    char name[32];
    uint32_t op, value;

    for (const char *line = text; (line = strstr(line, "# knobs ")) != NULL; line++) {
        if (sscanf(line, "# knobs %u: %31[a-z_]=%u", &op, name, &value) != 3 || op >= shape->n_op)
            fail_msg("%.40s", line);
        for (uint32_t k = 0; k < SCHED_KNOBS; k++)
            if (strcmp(sched_knob_name(k), name) == 0)
                *sched_knob(&knobs[op], k) = value;
    }
}

/* The text that the file stores for a trial with these knobs; reading it gives them back. */
static void store_case(struct arena *a, const char *path)
{
    struct net *n = load(a, path);
    const struct knob_shape shape = knob_shape_of(&n->p);
    struct store_trial t = {.number = 3, .estimate = 10, .cycles = 11}, *back;
    char file[] = "/tmp/heddle_cases_XXXXXX";
    struct store *s;
    struct diag d = {0};
    struct text out;
    uint32_t found;
    int64_t id;

    t.knobs = ARENA_ARRAY(a, struct sched_knobs, shape.n_op + 1);
    t.value = ARENA_ARRAY(a, int64_t, 1);
    set_knobs(ir_text(a, path), &shape, t.knobs);
    close(mkstemp(file));
    if (store_open(a, file, STORE_WRITE, &s, &d) != ST_OK ||
        store_make(s, &n->key, "net", "tiny", &id, &d) != ST_OK ||
        store_add(s, id, &t, &shape, &d) != ST_OK)
        fail_msg("%s: %s", path, d.text);
    text_init(&out, a);
    if (store_trials(s, id, &shape, &back, &found, &d) == ST_OK) {
        assert_int_equal(found, 1);
        assert_memory_equal(back->knobs, t.knobs, shape.n_op * sizeof *t.knobs);
        cJSON *o = cJSON_CreateObject();
        knob_file_add(o, &shape, back->knobs, back->value, false);
        char *json = cJSON_PrintUnformatted(o);
        text_printf(&out, "%s\n", json);
        cJSON_free(json);
        cJSON_Delete(o);
    } else {
        assert_non_null(strstr(d.text, ": trial 3:"));
        text_printf(&out, "refused: %s\n", strstr(d.text, "knobs["));
    }
    store_close(s);
    unlink(file);
    ir_same_as_sibling(a, path, ".out", out.data);
}

static void stores(void **state)
{
    (void)state;
    ir_each("tests/app/tune/store/*.ir", store_case);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys),
        cmocka_unit_test(stores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
