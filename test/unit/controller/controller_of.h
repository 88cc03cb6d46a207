/* controller_of.h - a controller that knows the cluster of a text (cluster_text.h), as if its
 * watches had told it; it runs nothing.
 */
#pragma once

#include "controller/controller.h"
#include "test/unit/cluster_text.h"

struct controller controller_of(const struct cluster_view *view);
void controller_fini(const struct controller *controller);
