/* fence_note.h - what the status of an AzVolumeAttachment says of the fence around its disk, and
 * what the controller asks the node of a replica to do about another's (docs/failover.md).
 *
 * The annotation ANNOTATION_FENCE is one of these (node/volume_fence.h):
 *
 *     held <key>               the disk refuses the writes of all VMs but this one, which it knows
 *                              by the key
 *     held <key> from <key>    the same; another node had the fence, and has not given it up
 *     lost <key>               it did until another node took the fence
 *     unsupported              the device can have none
 *
 * After a key may come "generation <number>", of the disk's reservations when this node staged the
 * volume last: a node that takes its fence back has the key that it had before, but never the
 * generation.
 *
 * ANNOTATION_PREEMPT_REQUEST is "<key> <occasion>", with the generation of the note that has the
 * key. Pure; for all programs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/api/azdisk.pb-c.h"

#define FENCE_NOTE_UNSUPPORTED "unsupported"

/* For printing a key as records have it. */
#define FENCE_KEY_FORMAT "%#018" PRIx64

/* The key of a fence that is held, as far as is on record; 0: none is. */
uint64_t fence_note_key(const Api__AzVolumeAttachment *attachment);
/* Of one that is held, or was until it was lost; 0: neither. */
uint64_t fence_note_last_key(const Api__AzVolumeAttachment *attachment);
/* From whose key it was taken; 0: from nobody's. */
uint64_t fence_note_former(const Api__AzVolumeAttachment *attachment);
bool fence_note_is_lost(const Api__AzVolumeAttachment *attachment);
bool fence_note_is_unsupported(const Api__AzVolumeAttachment *attachment);

/* 0: none is on record. */
uint32_t fence_note_generation(const Api__AzVolumeAttachment *attachment);

/* free() them. `former` 0: nobody had it; `generation` 0: it is not known. */
char *fence_note_held(uint64_t key, uint64_t former, uint32_t generation);
char *fence_note_lost(uint64_t key, uint32_t generation);
/* Once it was taken: from `former`, or, if this machine had it already (0), from whom the record
 * says, whatever key that has: each boot has another one, and who lost it before the boot may live
 * on to this day. */
char *fence_note_taken(const Api__AzVolumeAttachment *attachment, uint64_t key, uint64_t former,
                       uint32_t generation);

/* That the key is to be preempted. An answer is good for the occasion only: that nothing is heard
 * of the key's node since it renewed its Lease at that time, in the words of the Lease, or that its
 * Node of that UID was deleted; and for the generation of the fence's note. free() it. */
char *preempt_request_text(uint64_t key, uint32_t generation, const char *occasion);
/* The key that is named; 0 if it cannot be read. */
uint64_t preempt_request_key(const char *request);
