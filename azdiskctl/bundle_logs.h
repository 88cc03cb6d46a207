/* bundle_logs.h - the newest lines of the logs of containers, a file each, without secrets.
 */
#pragma once

#include <jansson.h>

#include "azdiskctl/bundle_folder.h"
#include "lib/kube/connection.h"

/* `sources` as log_source.h has them. Adds a row {"file", "pod", "container", "previous", "bytes",
 * "of", "error"} to `files` for each; `of` are the bytes that the server had, where not all were
 * kept. Of those that were not asked for, `ret_left_out` has {"containers", "because"}; NULL if
 * there are none. An error here is that of the folder. */
struct err *bundle_logs(struct task *self, const struct kube_connection *connection,
                        const struct bundle_folder *folder, const json_t *sources, json_t *files,
                        json_t **ret_left_out) __attribute__((warn_unused_result));
