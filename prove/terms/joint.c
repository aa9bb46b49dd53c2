/* joint.c - several terms that are functions of one integer, as the bytes of a float are that was a byte. */
#include "normal.h"

static int64_t place(const struct prove_view *v, uint32_t i)
{
    return i >= v->n[0] ? INT64_MAX : v->at[0][i];
}

bool prove_joint(const struct prove *p, const uint32_t *t, uint32_t n, struct prove_joint *j)
{
    struct prove_view v[PROVE_JOINT];
    uint32_t i[PROVE_JOINT] = {0};
    bool known = false;

    j->n = 0;
    for (uint32_t k = 0; k < n; k++) {
        v[k] = prove_one_argument(&p->term[t[k]]);
        if (v[k].n[0] == 1)
            continue;
        if (known && (v[k].arg[0] != j->arg || v[k].span[0] != j->span))
            return false;
        known = true;
        j->arg = v[k].arg[0];
        j->span = v[k].span[0];
    }
    if (!known)
        j->arg = j->span = 0;
    for (int64_t x = 0; x != INT64_MAX; j->n++) {
        int64_t next = INT64_MAX;

        if (j->n == 256)
            return false;
        j->at[j->n] = x;
        for (uint32_t k = 0; k < n; k++) {
            i[k] += place(&v[k], i[k] + 1) <= x;
            j->value[k][j->n] = v[k].value[i[k]];
            next = place(&v[k], i[k] + 1) < next ? place(&v[k], i[k] + 1) : next;
        }
        x = next;
    }
    return true;
}
