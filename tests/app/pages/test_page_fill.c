/* test_page_fill.c - a template's places take the texts given for them, others the embedded files; JSON cannot end the script
 * element that it is in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "app/pages/page.h"

static void fills(void **state)
{
    const struct page_part parts[] = {{"changes", "{\"a\":\"</script>\"}", true},
                                      {NULL, NULL, false}};
    struct arena *a = arena_new(0);
    struct text t;

    (void)state;
    text_init(&t, a);
    page_fill(&t, "changes.html", parts);
    assert_non_null(strstr(t.data, "{\"a\":\"\\u003c/script>\"}"));
    assert_non_null(strstr(t.data, "--ground: #14181b"));
    assert_non_null(strstr(t.data, "function tip("));
    assert_null(strstr(t.data, "{{page.js}}"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fills)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
