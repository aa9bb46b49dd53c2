/* onnx_einsum.c - Einsum as sums, transposes and matrix products. in: the equation, its operands'
 * shapes. out: a text. Operands are multiplied from left to right; of two, the dimensions that both
 * have and that are still needed are the batch of a product, those that both have alone its depth. */
#include "compiler/import/onnx/rewrites/onnx_rewrites.h"

#include <string.h>

enum { MOST = IR_MAX_RANK };

/* A tensor of the equation: a letter for each dimension ('0' on: those of an ellipsis). */
struct term {
    char letter[MOST + 1];
    const char *name; /* in the text */
};

struct einsum {
    struct ox *m;
    struct text text;
    int32_t size[128]; /* of each letter; 0: none yet */
    char out[MOST + 1];
    uint32_t n_inner;
};

static const char *inner_name(struct einsum *e)
{
    return arena_printf(e->m->arena, "e%u", e->n_inner++);
}

static const char *list(struct einsum *e, uint32_t n, const int64_t *v)
{
    return ox_list(e->m, n, v);
}

/* Read the letters of one operand up to ',' or '-'; `rank` dimensions (IR_NONE: the result). */
static enum status read_term(struct einsum *e, const char **p, uint32_t rank, char *to)
{
    const char *from = *p;
    uint32_t n = 0, letters = 0;

    for (const char *q = from; *q && *q != ',' && *q != '-'; q++)
        letters += *q != ' ' && *q != '.';
    for (; **p && **p != ',' && **p != '-'; (*p)++) {
        uint32_t many = 1;

        if (**p == ' ')
            continue;
        if (strncmp(*p, "...", 3) == 0) {
            many = rank == IR_NONE ? 0 : rank - letters;
            for (uint32_t i = 0; rank == IR_NONE && i < MOST; i++)
                many += e->size['0' + i] != 0;
            *p += 2;
            if (n + many > MOST || rank < letters)
                break;
            for (uint32_t i = 0; i < many; i++)
                to[n++] = (char)('0' + i);
            continue;
        }
        if (n >= MOST || !((**p >= 'a' && **p <= 'z') || (**p >= 'A' && **p <= 'Z')) ||
            memchr(to, **p, n))
            return FAIL(e->m->d, ST_UNSUPPORTED,
                        "equation: '%.80s': expected at most %d different letters an operand", from,
                        MOST);
        to[n++] = **p;
    }
    to[n] = '\0';
    if (rank != IR_NONE && n != rank)
        return FAIL(e->m->d, ST_MODEL, "equation: '%.80s': expected %u letters, found %u", from,
                    rank, n);
    return ST_OK;
}

static enum status read_operand(struct einsum *e, const char **p, uint32_t i, struct term *t)
{
    const struct ox_value *v = ox_in(e->m, i);

    if (!v)
        return FAIL(e->m->d, ST_MODEL, "input %u is absent", i);
    TRY(read_term(e, p, ox_rank(e->m, v), t->letter));
    t->name = arena_printf(e->m->arena, "$%u", i);
    for (uint32_t k = 0; t->letter[k]; k++) {
        int32_t *size = &e->size[(unsigned char)t->letter[k]];
        const int32_t found = ox_dim(e->m, v)[k];

        if (*size != 0 && *size != found)
            return FAIL(e->m->d, ST_UNSUPPORTED, "dimension '%c': expected %d, found %d",
                        t->letter[k], *size, found);
        *size = found;
    }
    return ST_OK;
}

/* Without "->" the result has the ellipsis, then the letters that occur once, in order. */
static enum status implied_result(struct einsum *e, const struct term *t, uint32_t n)
{
    uint32_t at = 0;

    for (int letter = '0'; letter <= 'z'; letter++) {
        uint32_t found = 0;

        for (uint32_t i = 0; i < n; i++)
            found += strchr(t[i].letter, letter) != NULL;
        if (found != 1 && (found == 0 || letter > '9'))
            continue;
        if (at == MOST)
            return FAIL(e->m->d, ST_UNSUPPORTED,
                        "equation: expected a result of at most %d dimensions", MOST);
        e->out[at++] = (char)letter;
    }
    e->out[at] = '\0';
    return ST_OK;
}

/* Return true if the result or a term from `first` on has the letter. */
static bool needed(const struct einsum *e, const struct term *t, uint32_t first, uint32_t n,
                   char letter)
{
    if (strchr(e->out, letter))
        return true;
    for (uint32_t i = first; i < n; i++)
        if (strchr(t[i].letter, letter))
            return true;
    return false;
}

/* Add up the dimensions of t whose letters `keep` lacks. */
static void sum_away(struct einsum *e, struct term *t, const char *keep)
{
    int64_t axis[MOST];
    uint32_t n = 0, at = 0;
    struct term y = {.name = inner_name(e)};

    for (uint32_t i = 0; t->letter[i]; i++)
        if (strchr(keep, t->letter[i]))
            y.letter[at++] = t->letter[i];
        else
            axis[n++] = i;
    if (n == 0)
        return;
    text_printf(&e->text, "%s = ReduceSum(%s, %s; keepdims=0); ", y.name, t->name,
                list(e, n, axis));
    *t = y;
}

/* Order the dimensions of t as `order` has its letters. */
static void arrange(struct einsum *e, struct term *t, const char *order)
{
    int64_t perm[MOST];
    const char *name = inner_name(e);
    const uint32_t n = (uint32_t)strlen(order);

    if (strcmp(t->letter, order) == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        perm[i] = strchr(t->letter, order[i]) - t->letter;
    text_printf(&e->text, "%s = Transpose(%s; perm=%s); ", name, t->name, list(e, n, perm));
    t->name = name;
    memcpy(t->letter, order, n + 1);
}

static int64_t product(const struct einsum *e, const char *letters)
{
    int64_t n = 1;

    for (; *letters; letters++)
        n *= e->size[(unsigned char)*letters];
    return n;
}

static void reshape(struct einsum *e, struct term *t, uint32_t n, const int64_t *dim)
{
    const char *name = inner_name(e);

    text_printf(&e->text, "%s = Reshape(%s, %s); ", name, t->name, list(e, n, dim));
    t->name = name;
}

/* Letters of a pair of terms by their place in a product of matrices. */
struct roles {
    char batch[2 * MOST + 1], left[MOST + 1], right[MOST + 1], depth[MOST + 1];
};

static void add(char *to, char letter)
{
    const size_t n = strlen(to);

    to[n] = letter;
    to[n + 1] = '\0';
}

static const char *joined(struct einsum *e, const char *a, const char *b, const char *c)
{
    return arena_printf(e->m->arena, "%s%s%s", a, b, c);
}

/* Replace t[k - 1] and t[k] by their product. */
static enum status multiply(struct einsum *e, struct term *t, uint32_t k, uint32_t n)
{
    struct term *a = &t[k - 1], *b = &t[k], y = {.name = inner_name(e)};
    struct roles r = {0};
    const char *order;
    int64_t dim[MOST];

    for (uint32_t i = 0; a->letter[i]; i++) {
        const bool both = strchr(b->letter, a->letter[i]) != NULL;
        const bool kept = needed(e, t, k + 1, n, a->letter[i]);

        add(!both ? r.left : kept ? r.batch : r.depth, a->letter[i]);
    }
    for (uint32_t i = 0; b->letter[i]; i++)
        if (!strchr(a->letter, b->letter[i]))
            add(r.right, b->letter[i]);
    order = joined(e, r.batch, r.left, r.right);
    if (strlen(order) > MOST)
        return FAIL(e->m->d, ST_UNSUPPORTED,
                    "equation: a product of %zu dimensions: expected at most %d", strlen(order),
                    MOST);
    arrange(e, a, joined(e, r.batch, r.left, r.depth));
    reshape(e, a, 3,
            (const int64_t[]){product(e, r.batch), product(e, r.left), product(e, r.depth)});
    arrange(e, b, joined(e, r.batch, r.depth, r.right));
    reshape(e, b, 3,
            (const int64_t[]){product(e, r.batch), product(e, r.depth), product(e, r.right)});
    text_printf(&e->text, "%s = MatMul(%s, %s); ", y.name, a->name, b->name);
    if (k + 1 == n)
        y.name = ox_quantise_inside(e->m, &e->text, y.name);
    memcpy(y.letter, order, strlen(order) + 1);
    for (uint32_t i = 0; order[i]; i++)
        dim[i] = e->size[(unsigned char)order[i]];
    reshape(e, &y, (uint32_t)strlen(order), dim);
    t[k] = y;
    return ST_OK;
}

enum status ox_einsum(struct ox *m)
{
    const uint32_t n = (uint32_t)m->node->n_input;
    struct einsum e = {.m = m};
    struct term *t = ARENA_ARRAY(m->arena, struct term, n);
    const char *p = ox_attr_text(m, "equation", "");

    text_init(&e.text, m->arena);
    for (uint32_t i = 0; i < n; i++) {
        TRY(read_operand(&e, &p, i, &t[i]));
        if (i + 1 < n && *p++ != ',')
            return FAIL(m->d, ST_MODEL, "equation: expected %u operands, found %u", n, i + 1);
    }
    if (*p && strncmp(p, "->", 2) != 0)
        return FAIL(m->d, ST_MODEL, "equation: expected %u operands, found more", n);
    if (*p) {
        p += 2;
        TRY(read_term(&e, &p, IR_NONE, e.out));
    } else {
        TRY(implied_result(&e, t, n));
    }
    for (uint32_t i = 0; e.out[i]; i++)
        if (e.size[(unsigned char)e.out[i]] == 0)
            return FAIL(m->d, ST_MODEL, "equation: no operand has '%c' of the result", e.out[i]);
    for (uint32_t i = 0; i < n; i++) {
        char keep[2 * MOST + 1] = "";

        for (const char *l = t[i].letter; *l; l++)
            if (needed(&e, t, i + 1, n, *l) || (i > 0 && strchr(t[i - 1].letter, *l)))
                add(keep, *l);
        sum_away(&e, &t[i], keep);
        if (i > 0)
            TRY(multiply(&e, t, i, n));
    }
    arrange(&e, &t[n - 1], e.out);
    text_printf(&e.text, "%%0 = Identity(%s)", t[n - 1].name);
    return ox_expand(m, e.text.data);
}
