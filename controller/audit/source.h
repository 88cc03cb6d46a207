/* source.h - the controller's stores, as the audit looks into them.
 *
 * It works on the controller's loop, where a promotion must not wait for it. So it looks at one
 * thing after the other by the stores' indexes, and yields after every few hundred of them.
 */
#pragma once

#include "controller/controller.h"
#include "provisioner-lib/audit/cluster_source.h"

struct audit_source {
    struct cluster_source source;
    const struct controller *controller;
};

void audit_source_init(struct audit_source *source, const struct controller *controller);
