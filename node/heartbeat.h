/* heartbeat.h - the node's AzDriverNode: made when it is missing, written when something has
 * changed, and at least once in every heartbeat interval.
 *
 * One task does all of it. Failures are logged here and tried again, ever less often, but not less
 * often than the interval.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"

/* As a member of the group. When the program stops, the task says so in the object and ends. */
void heartbeat_start(struct node *node, struct task_group *group);

/* What the object says of the node. */
struct heartbeat {
    bool ready;
    const char *message; /* statusMessage */
    const char *reason;  /* of the condition: a word */
    char *detail;        /* of the condition: a sentence; owned */
    int free_slots;      /* -1: not known */
};

void heartbeat_fini(struct heartbeat *heartbeat);

/* What is to be said now. */
struct heartbeat heartbeat_of(const struct node *node);
bool heartbeat_equal(const struct heartbeat *a, const struct heartbeat *b);

/* The patch that says it at a time (RFC 3339). `before` is the object as it is known, or NULL: a
 * condition that stays keeps the time of its transition. */
json_t *heartbeat_patch(const struct heartbeat *heartbeat, const char *now, const char *boot_id,
                        const Api__AzDriverNode *before);
