/* native_tune.c - the knobs that a target's shared object wants to have measured: it is asked once
 * about all of its operators. */
#include "native.h"

bool native_tune(const struct target_question *q, uint32_t target, struct heddle_tuning *about,
                 int64_t *value)
{
    const struct heddle_target_api *api = describe_of(q->target)->native;

    if (!api || !api->tune)
        return false;
    struct native_question *k = ARENA_ARRAY(q->arena, struct native_question, q->graph->n_op + 1);
    struct heddle_question *question =
        ARENA_ARRAY(q->arena, struct heddle_question, q->graph->n_op + 1);
    about->target = q->target->name;
    about->question = question;
    about->n_questions = 0;
    for (uint32_t i = 0; i < q->graph->n_op; i++) {
        struct target_question one = *q;
        one.op = q->graph->op[i];
        if (one.op->dead || one.op->target != target || one.op->call != IR_NONE)
            continue;
        native_ask(describe_pattern_of(&one), &one, &k[i]);
        question[about->n_questions++] = k[i].q;
    }
    return api->tune(about, value) == 1;
}
