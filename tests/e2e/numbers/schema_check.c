/* schema_check.c - check a JSON file against its schema.
 *
 *     schema_check docs/inspect.v1.schema.json FILE
 *
 * Exit status 0: yes; 1: no, and where; 2: the schema cannot be read. */
#include <stdio.h>

#include "base/json/json_doc.h"

int main(int argc, char **argv)
{
    struct arena *a = arena_new(0);
    struct json_doc schema = {0}, doc = {0};
    struct diag d = {0};

    if (argc != 3 || json_doc_read(a, argv[1], &schema, &d) != ST_OK) {
        printf("usage: schema_check SCHEMA FILE\n%s\n", d.text);
        return 2;
    }
    const int good = json_doc_read(a, argv[2], &doc, &d) == ST_OK &&
                     json_doc_check(&doc, schema.root, &d) == ST_OK;
    if (!good)
        printf("%s\n", d.text);
    json_doc_free(&doc);
    json_doc_free(&schema);
    arena_free(a);
    return good ? 0 : 1;
}
