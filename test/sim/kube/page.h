/* page.h - lists, page by page.
 */
#pragma once

#include "test/sim/kube/state.h"
#include "test/sim/kube/target.h"

/* The list that the target asks for, as JSON text; the caller frees it. */
struct err *page_read(struct kube_server *server, const struct target *target, char **ret_text,
                      size_t *ret_length) __attribute__((warn_unused_result));

/* The state from which lists with resourceVersion=0 are served. */
uint64_t page_stale_revision(const struct kube_server *server, const struct collection *collection);
/* Whether a key is in a namespace; "" is all. */
bool page_in_namespace(const char *key, const char *namespace_);
