/* onnx_state.c - inputs of the graph that are outputs of the step before: variables. */
#include "onnx_state.h"

#include <string.h>

/* Return the state that has this input, or this output; NULL: none. */
const struct onnx_state *ox_state_of(const struct ox *m, const char *input, const char *output)
{
    for (uint32_t i = 0; i < m->options->n_state; i++) {
        const struct onnx_state *s = &m->options->state[i];
        if (strcmp(input ? s->input : s->output, input ? input : output) == 0)
            return s;
    }
    return NULL;
}

/* The input's tensor becomes a variable, and the input's value is read from it. */
enum status ox_read_state(struct ox *m, struct ox_value *v)
{
    const uint32_t variable = v->tensor;

    m->g->tensor[variable]->role = IR_VARIABLE;
    m->g->tensor[variable]->data = ox_state_of(m, v->name, NULL)->initial;
    m->op = "Identity";
    m->row = IR_NONE;
    v->tensor = ox_tensor(m, v->name, m->g->tensor[variable]->type, ox_shape_of(m, variable), NULL);
    ox_make_read_variable(m, 1, &variable, v->tensor);
    ox_one_scale(m, variable, v->tensor);
    return ST_OK;
}

/* Tensor `id` is what the variable of state `s` holds for the next step. */
enum status ox_assign_state(struct ox *m, const struct onnx_state *s, uint32_t id)
{
    const uint32_t read = ox_called_value(m, s->input)->tensor;
    const uint32_t in[2] = {id, m->g->op[m->g->tensor[read]->producer]->in[0]};

    m->op = "Identity";
    m->row = IR_NONE;
    ox_make_assign_variable(
        m, 2, in,
        ox_tensor(m, ox_inner(m, s->output, "done"), IR_BOOL, (struct ox_shape){0}, NULL));
    return ST_OK;
}
