/* reservations.h - places on nodes for pods that have just been proposed for them.
 *
 * Between a proposal and the record of the pod's primaries lie the scheduler, the attach/detach
 * controller and external-attacher. Two pods that come at once would else be sent to the last place
 * of one node. A reservation ends when the pod is gone or on another node, and in any case after
 * RESERVATION_MS: it is a guess about the future, and a scheduler may have other ideas. A disk
 * whose primary is on record counts there and here no more.
 *
 * Part of controller->leading; the next leader begins with none. Loop's thread.
 */
#pragma once

#include "controller/controller.h"

enum { RESERVATION_MS = 30 * 1000 };

struct reservations;

struct reservations *reservations_new(void);
void reservations_free(struct reservations *reservations); /* NULL is fine */

/* Instead of what is reserved for a pod of that name ("namespace/name") so far; `volumes` are
 * AzVolumes' names. */
void reservations_make(struct controller *controller, const char *pod, const char *node,
                       char *const *volumes, size_t n_volumes);
void reservations_end(struct controller *controller, const char *pod); /* if there is one */

/* How many places on a node are reserved for other volumes than these. */
unsigned reservations_count(const struct controller *controller, const char *node,
                            char *const *volumes, size_t n_volumes);
