/* diagnosis.h - why something waits: one table of stages, from the claim to the mount.
 *
 * The first row that applies is the answer. Pure.
 */
#pragma once

#include "azdiskctl/dependency_chain.h"

struct diagnosis {
    const char *stage; /* where it stands */
    char *cause;       /* free() it */
    const char *next;  /* what to do */
};

struct diagnosis diagnose(const struct dependency_chain *chain);

/* The node plug-in has told lately that it takes volumes. */
bool plugin_is_ready(const struct cluster *cluster, const struct kube_object *plugin);
