/* uninstall_check.h - `azdiskctl uninstall-check`: whether the driver may be uninstalled now.
 *
 * It may not while a volume is published: nobody would be left who unmounts it, ends its
 * VolumeAttachment or detaches its disk, and its pod could neither end nor start elsewhere. The
 * chart asks before it is uninstalled. Needs no custom resources, which may be gone by then.
 */
#pragma once

#include <jansson.h>

#include "lib/base/buffer.h"
#include "lib/kube/client.h"
#include "provisioner-lib/audit/cluster_view.h"

/* Of VolumeAttachments and PersistentVolumes, those of the driver: {"driverName", "published":
 * [{"volume", "claim", "node"}], "persistentVolumes": how many}. */
json_t *uninstall_check_document(const struct cluster_view *view)
    __attribute__((warn_unused_result));
struct err *uninstall_check_json(struct task *self, struct kube *kube, const char *driver_name,
                                 json_t **ret) __attribute__((warn_unused_result));
/* Nothing is published. */
bool uninstall_check_is_clean(const json_t *document);
/* Why all of that may be about nothing, as with another driver's name or in another cluster than
 * was meant; NULL if it is not. free() it. */
char *uninstall_check_doubt(const json_t *document) __attribute__((warn_unused_result));
void uninstall_check_text(const json_t *document, struct buffer *out);
