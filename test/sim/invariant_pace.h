/* invariant_pace.h - the way of one controller to a server, on which it is checked how often it
 * asks: what Azure has refused for a while is not asked for before (I8), and nothing is asked in a
 * loop (I10).
 *
 * It stands in the process, where an answer is heard and a request is sent: what is still on its
 * way binds nobody, and neither does what another process was told. The time is the process's. The
 * controller's process owns it; its tasks call it.
 */
#pragma once

#include "lib/http/transport.h"

struct pace;
struct sim;

/* `inner` is the wire to the server, and must outlive it; `of_azure`: refusals bind. */
struct pace *pace_new(struct sim *sim, struct http_transport *inner, bool of_azure);
void pace_free(struct pace *pace);
struct http_transport *pace_http(struct pace *pace);
