/* compared.h - calls of kernels without a rule, compared with the graph's operators by inputs. */
#ifndef HEDDLE_PROVE_COMPARED_H
#define HEDDLE_PROVE_COMPARED_H

#include "package.h"

/* True: kernel `name` with parameters p gives, for each input tried, what an operator of the current layer gives whose
 * inputs are the arguments; its result has the terms of the operator's. False: no such operator. arg[4]. */
bool prove_compared(struct prove_package *k, const char *name, const void *p, void *const *arg);
/* The same for a layer of an external target, which has changed the window: its code runs again, without its core. The
 * window must be as before the layer. */
bool prove_emitted(struct prove_package *k);

#endif
