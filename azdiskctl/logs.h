/* logs.h - `azdiskctl logs`: what the driver's containers have said, all in the order of time.
 */
#pragma once

#include "azdiskctl/log_subject.h"
#include "lib/base/buffer.h"
#include "lib/kube/bearer_token.h"

/* What of a container's log was read. */
struct log_extent {
    struct log_cursor cursor;
    bool failed;   /* not to its end */
    bool left_out; /* there was no room for it */
};

/* {"lines": as log_line.h has them, "unread": [{"pod", "container", "error"}]}, of the containers
 * of log_source.h; `ret_extents` has an element for each of them. `token` is that of the
 * connection's account. */
json_t *logs_read(struct task *self, const struct logs_config *config, struct bearer_token *token,
                  const json_t *sources, const struct log_names *names,
                  struct log_extent *ret_extents) __attribute__((warn_unused_result));

/* The same of all that the config means. */
struct err *logs_json(struct task *self, const struct logs_config *config, json_t **ret)
    __attribute__((warn_unused_result));
bool logs_are_complete(const json_t *document);
void logs_text(const json_t *document, struct buffer *out);
