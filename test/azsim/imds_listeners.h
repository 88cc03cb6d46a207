/* imds_listeners.h - the instance metadata service at 169.254.169.254:80 of each VM's own network.
 *
 * Every VM with a networkNamespace gets a listener inside of it, so that who asks is known by
 * where. A namespace that goes away takes its listener with it, and one that comes (back) under the
 * same path gets a new one within a moment, as a VM does when it is started again. The address
 * itself is put on the namespace's loopback by whoever makes the namespace; the order does not
 * matter. Loop's thread; needs CAP_SYS_ADMIN.
 */
#pragma once

#include "test/azsim/arm/arm.h"

struct imds_listeners;

/* Watches the VMs of the arm's model until it is closed. */
struct imds_listeners *imds_listeners_new(struct arm *arm);
/* How many VMs are listened for. */
unsigned imds_listeners_count(const struct imds_listeners *listeners);
/* Returns once those that can be opened now are. */
void imds_listeners_settle(struct task *self, struct imds_listeners *listeners);
void imds_listeners_close(struct task *self, struct imds_listeners *listeners); /* and frees */
