/* selected.h - get and describe: what is meant, the cluster that it is in, and what there is not of
 * it.
 */
#pragma once

#include "azdiskctl/command.h"
#include "azdiskctl/kind.h"

/* Call selection_fini and cluster_fini whatever comes of it. */
struct err *selected_read(struct task *self, const struct program *program, unsigned parts,
                          struct selection *ret_selection, struct cluster *ret)
    __attribute__((warn_unused_result));

/* Names of nothing are an error each, and what there is is shown nevertheless. */
void selected_complain(const json_t *document);
