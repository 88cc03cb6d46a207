/* transport.h - Azure in the same process: an HTTP transport that ends in arm.
 *
 * For simulations and tests of Azure clients. Requests to 169.254.169.254 go to the instance
 * metadata service as one VM sees it, all others to Azure Resource Manager and Entra ID, whatever
 * their host. A client that goes away, or whose deadline passes, loses the answer and not the
 * effect: a request that was sent goes on without it. Loop's thread.
 */
#pragma once

#include "lib/http/transport.h"
#include "test/azsim/arm/arm.h"

struct arm_transport;

/* `vm` is where the client runs: NULL for outside of Azure, where no metadata service is. */
struct arm_transport *arm_transport_new(struct arm *arm, const char *vm);
/* Ends what is under way, and frees. No client may be waiting. */
void arm_transport_close(struct task *self, struct arm_transport *transport);

struct http_transport *arm_transport_http(struct arm_transport *transport);
