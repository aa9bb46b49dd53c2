/* hook.h - between the kernels of libheddle_prove.so, which emitted code calls, and the prover. */
#ifndef HEDDLE_PROVE_HOOK_H
#define HEDDLE_PROVE_HOOK_H

/* A call of kernel `name`: its parameters, then its other arguments in order. */
struct prove_hook {
    void (*call)(void *ctx, const char *name, const void *p, void *const *arg);
    void *ctx;
};

#endif
