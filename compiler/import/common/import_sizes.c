/* import_sizes.c - read the option --input-shapes.
 * in: its text, the names of a file's inputs. out: the sizes of each, or a refusal. */
#include "import_sizes.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static enum status check_name(struct arena *a, const char *name, size_t length, uint32_t n,
                              const char *const *input, struct diag *d)
{
    struct text inputs;

    text_init(&inputs, a);
    for (uint32_t i = 0; i < n; i++) {
        if (strncmp(input[i], name, length) == 0 && input[i][length] == '\0')
            return ST_OK;
        text_printf(&inputs, "%s'%.80s'", inputs.length ? ", " : "", input[i]);
    }
    return FAIL(d, ST_USAGE, "--input-shapes: no input '%.*s'; expected one of: %.1000s",
                (int)(length < 80 ? length : 80), name,
                inputs.length ? inputs.data : "(the graph has none)");
}

enum status import_sizes_check(struct arena *a, const char *list, uint32_t n,
                               const char *const *input, struct diag *d)
{
    for (const char *p = list; p && *p;) {
        const char *dims, *end;

        p += strspn(p, ", ");
        dims = strstr(p, ":[");
        end = dims ? strchr(dims, ']') : NULL;
        if (!end || dims == p || !strchr(",", end[1]))
            return FAIL(d, ST_USAGE,
                        "--input-shapes: found '%.80s', expected name:[1,3,224,224],...", p);
        TRY(check_name(a, p, (size_t)(dims - p), n, input, d));
        p = end + 1;
    }
    return ST_OK;
}

/* Return the entry for `name`, after "name:[", or NULL. */
static const char *entry(const char *list, const char *name)
{
    const size_t n = strlen(name);

    for (const char *p = list; p && *p; p = strchr(p, ']')) {
        while (*p == ']' || *p == ',' || *p == ' ')
            p++;
        if (strncmp(p, name, n) == 0 && p[n] == ':' && p[n + 1] == '[')
            return p + n + 2;
    }
    return NULL;
}

enum status import_sizes(const char *list, const char *name, bool *given, uint32_t *n,
                         int64_t dim[IR_MAX_RANK], struct diag *d)
{
    const char *text = entry(list, name);

    *given = text != NULL;
    for (*n = 0; text && *text != ']'; text += *text == ',') {
        char *end;

        if (*n == IR_MAX_RANK || !isdigit((unsigned char)*text))
            return FAIL(d, ST_USAGE,
                        "--input-shapes: '%.80s': expected name:[1,3,224,224] with at most %d "
                        "numbers",
                        name, IR_MAX_RANK);
        dim[(*n)++] = strtoll(text, &end, 10);
        if (*end != ',' && *end != ']')
            return FAIL(d, ST_USAGE, "--input-shapes: '%.80s': expected a ',' or ']', found '%.8s'",
                        name, end);
        text = end;
    }
    return ST_OK;
}
