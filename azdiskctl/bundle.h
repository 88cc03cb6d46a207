/* bundle.h - `azdiskctl bundle`: a new directory with what somebody needs who helps, and no
 * secrets.
 *
 * What is collected: objects (bundle_objects.h), logs of the driver's pods (bundle_logs.h), the
 * output of other commands, and index.json, which says what there is and what could not be read.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "lib/base/buffer.h"
#include "lib/kube/connection.h"
#include "provisioner-lib/cloud.h"

struct bundle_config {
    const struct kube_connection *connection;
    struct cloud *cloud; /* NULL: Azure is not looked at */
    const char *driver_name, *object_namespace;
    const char *directory; /* NULL: a new one here, with the time in its name */
};

/* What index.json has. What cannot be read is part of it; an error is that of the directory. */
struct err *bundle_json(struct task *self, const struct bundle_config *config, json_t **ret)
    __attribute__((warn_unused_result));
/* Nothing is missing. */
bool bundle_is_complete(const json_t *document);
void bundle_text(const json_t *document, struct buffer *out);
