/* logs.h - `azdiskctl logs`: what the driver's containers have said, all in the order of time.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "lib/base/buffer.h"
#include "lib/kube/connection.h"

struct logs_config {
    const struct kube_connection *connection;
    struct cluster_query query;
    const char *volume; /* lines that mention it; NULL: all */
    const char *node;   /* whose plug-in is read; "": those that the volume is on */
    uint64_t since_ms;  /* lines of so long ago at most; 0: all */
};

/* {"lines": as log_line.h has them, "unread": [{"pod", "container", "error"}]}. A volume that is
 * not on record may have been deleted: a warning, and its name is looked for. */
struct err *logs_json(struct task *self, const struct logs_config *config, json_t **ret)
    __attribute__((warn_unused_result));
bool logs_are_complete(const json_t *document);
void logs_text(const json_t *document, struct buffer *out);
