/* invariant_turn.h - the changes of VMs' disks, and of disks' sizes, that one controller has under
 * way, as it knows them: a disk is changed on one VM after the other (design, rule 5), and not
 * while it grows. Attaches to several VMs may overlap, and so may detaches.
 *
 * A change is under way from its request until its operation was seen to end, or until nobody can
 * know: after a lost answer, after a look that failed, after another one has led. For
 * invariant_pace.c, which sees what a controller sends and hears.
 */
#pragma once

#include "lib/base/list.h"
#include "lib/http/message.h"
#include "lib/http/transport.h"

struct sim;
struct turn;

struct turns {
    struct sim *sim;
    struct list under_way; /* struct turn */
};

void turns_init(struct turns *turns, struct sim *sim);
void turns_fini(struct turns *turns);

/* It is about to be sent; NULL if it changes no disks, or if they are not told apart in it. */
struct turn *turns_begin(struct turns *turns, const struct http_request *request);
/* Its answer; NULL: there was none. */
void turns_answered(const struct turns *turns, struct turn *turn,
                    const struct http_response *response);
/* Somebody has looked at an operation. */
void turns_looked(struct turns *turns, const char *url, const struct http_response *response);
