/* watch.h - watches as streams of lines of JSON.
 *
 * A watch is its reader's: it lives until its stream is closed, and outlives the server, broken.
 */
#pragma once

#include "test/sim/kube/state.h"
#include "test/sim/kube/target.h"

struct err *watch_open(struct kube_server *server, const struct target *target,
                       struct http_stream **ret) __attribute__((warn_unused_result));

/* The connections of all watches of a kind break; NULL: of every kind. */
void watch_break_all(struct kube_server *server, const struct api_resource *resource);
