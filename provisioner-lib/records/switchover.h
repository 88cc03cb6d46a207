/* switchover.h - the wish, noted on a PersistentVolumeClaim, that its pod comes to a node.
 *
 * The annotation ANNOTATION_SWITCHOVER is "<node> <time>". Azdiskctl writes it before it evicts the
 * pod, and the scheduler extender goes by it until that time, so that a wish which nobody has taken
 * back has no effect any more soon. Pure; for all programs.
 */
#pragma once

#include <stdint.h>

#include "lib/api/kubernetes.pb-c.h"

/* A wish for a time that is further away is none: whoever has written it, it would last. */
enum { SWITCHOVER_LONGEST_MS = 60 * 60 * 1000 };

/* free() it. */
char *switchover_text(const char *node, int64_t until_us) __attribute__((warn_unused_result));

/* The node that is wished for by the annotation's text, or NULL if there is none, or its time is
 * over. free() it. */
char *switchover_node(const char *text, int64_t now_us) __attribute__((warn_unused_result));
