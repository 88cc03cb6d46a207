/* fence_record.h - what the status of an AzVolumeAttachment says of the fence around its disk.
 *
 * The annotation ANNOTATION_FENCE is one of these (volume_fence.h):
 *
 *     held <key>               the disk refuses the writes of all VMs but this one, which it knows
 *                              by the key
 *     held <key> from <key>    the same; another node had the fence, and has not given it up
 *     lost <key>               it did until another node took the fence
 *     unsupported              the device can have none
 */
#pragma once

#include "node/node.h"

#define FENCE_UNSUPPORTED_NOTE "unsupported"

/* For printing a key as records have it. */
#define FENCE_KEY_FORMAT "%#018" PRIx64

/* A key at the beginning of a text, up to its end or a space; 0: there is none. Pure. */
uint64_t fence_key_parse(const char *text);

/* The key of a fence that is held, as far as is on record; 0: none is. Pure. */
uint64_t fence_record_key(const Api__AzVolumeAttachment *attachment);
/* From whose key it was taken; 0: from nobody's. Pure. */
uint64_t fence_record_former(const Api__AzVolumeAttachment *attachment);
bool fence_record_is_lost(const Api__AzVolumeAttachment *attachment);

/* `former` 0: nobody had it. */
char *fence_note_held(uint64_t key, uint64_t former);
char *fence_note_lost(uint64_t key);

/* `note` NULL takes it away. Nothing is written if that is what the record says. */
struct err *fence_record_write(struct task *self, struct node *node,
                               const struct kube_object *attachment, const char *note)
    __attribute__((warn_unused_result));
