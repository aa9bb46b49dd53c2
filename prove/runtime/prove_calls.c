/* prove_calls.c - kernels without a rule, as emitted code calls them while it is proven: all their arguments are
 * pointers. hdk.h is not included: each is a function of pointers here. */
#include "hook.h"

extern struct prove_hook prove_hook;

static void give(const char *name, const void *p, void *a, void *b, void *c, void *d)
{
    void *const arg[4] = {a, b, c, d};

    prove_hook.call(prove_hook.ctx, name, p, arg);
}

#define CALL2(kernel)                                                                              \
    void hdk_##kernel(const void *p, void *a, void *b);                                            \
    void hdk_##kernel(const void *p, void *a, void *b)                                             \
    {                                                                                              \
        give(#kernel, p, a, b, 0, 0);                                                              \
    }
#define CALL3(kernel)                                                                              \
    void hdk_##kernel(const void *p, void *a, void *b, void *c);                                   \
    void hdk_##kernel(const void *p, void *a, void *b, void *c)                                    \
    {                                                                                              \
        give(#kernel, p, a, b, c, 0);                                                              \
    }
#define CALL4(kernel)                                                                              \
    void hdk_##kernel(const void *p, void *a, void *b, void *c, void *d);                          \
    void hdk_##kernel(const void *p, void *a, void *b, void *c, void *d)                           \
    {                                                                                              \
        give(#kernel, p, a, b, c, d);                                                              \
    }
#include "calls.def"
