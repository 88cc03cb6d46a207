/* source.h - gives the audit access to the controller's stores.
 *
 * The audit runs on the controller's loop, where a promotion must not wait for it. So it reads one
 * object at a time through the stores' indexes, and yields after every few hundred objects.
 */
#pragma once

#include "controller/controller.h"
#include "provisioner-lib/audit/cluster_source.h"

struct audit_source {
    struct cluster_source source;
    const struct controller *controller;
};

void audit_source_init(struct audit_source *source, const struct controller *controller);
