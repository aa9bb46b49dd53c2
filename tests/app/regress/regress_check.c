/* regress_check.c - `regress_check SCHEMA FILE`: a results.json against its schema. Exit status 1 and
 * why if it does not keep it. */
#include <stdio.h>

#include "base/json_doc.h"

int main(int argc, char **argv)
{
    struct arena *a = arena_new(0);
    struct json_doc schema = {0}, file = {0};
    struct diag d = {0};

    enum status st = argc == 3 ? json_doc_read(a, argv[1], &schema, &d) : ST_USAGE;
    if (st == ST_OK)
        st = json_doc_read(a, argv[2], &file, &d);
    if (st == ST_OK)
        st = json_doc_check(&file, schema.root, &d);
    if (st != ST_OK)
        printf("%s\n", argc == 3 ? d.text : "usage: regress_check SCHEMA FILE");
    json_doc_free(&schema);
    json_doc_free(&file);
    arena_free(a);
    return st != ST_OK;
}
