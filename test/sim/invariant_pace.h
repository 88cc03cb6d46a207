/* invariant_pace.h - the way of one controller to a server, on which it is checked how often it
 * asks: what Azure has refused for a while is not asked for before (I8), and nothing is asked in a
 * loop (I10). And whether it may: nobody changes anything in Azure while another one leads (I6).
 *
 * It stands in the process, where an answer is heard and a request is sent: what is still on its
 * way binds nobody, and neither does what another process was told. The time is the process's. The
 * controller's process owns it; its tasks call it.
 */
#pragma once

#include "lib/http/transport.h"

struct flags;
struct pace;
struct sim;

/* `inner` is the link to the server. On the way to Azure, where refusals bind, `flags` say who the
 * controller is and which Lease it wants; NULL on the way to Kubernetes. Both must outlive it. */
struct pace *pace_new(struct sim *sim, struct http_transport *inner, const struct flags *flags);
/* The process is killed: what its tasks do on their way out reaches nobody, and is not checked. */
void pace_cut(struct pace *pace);
void pace_free(struct pace *pace);
struct http_transport *pace_http(struct pace *pace);
