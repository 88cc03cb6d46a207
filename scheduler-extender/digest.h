/* digest.h - what the extender keeps of each object: of many objects, the few words that are asked
 * for, as digests of lib/kube/object.h.
 *
 * Each function makes a digest of an object for a reflector. Loop's thread.
 */
#pragma once

#include "provisioner-lib/placement/presence.h"
#include "scheduler-extender/extender.h"

/* Of a PersistentVolumeClaim. */
struct claim_digest {
    uint64_t uid;      /* the hash of it */
    bool shared;       /* several nodes may use the volume at once */
    size_t switchover; /* where the wish for a node begins in `texts`: switchover.h; "": there is
                          none */
    char texts[];      /* the volume's name first; "": not bound yet */
};

/* Of a PersistentVolume. Whose it is, it says itself: those who write a claim may have it name any
 * volume. */
struct volume_digest {
    uint64_t claim_uid; /* the hash of its claim's uid; 0: that of any claim of this name */
    size_t claim;       /* where its claim's key begins in `texts`; "": none, or it is not ours */
    char texts[];       /* its disk's id in lower case first; "": it is not ours */
};

/* Of an AzVolumeAttachment. */
struct attachment_digest {
    enum presence presence; /* of anything but NONE, node and disk are known */
    uint64_t node;          /* the hash of its name */
    char disk[];            /* its id in lower case */
};

/* Of an AzDriverNode. */
struct node_digest {
    struct node_report report;
    uint64_t node; /* the hash of its name */
    char name[];   /* "": it is about no node */
};

/* The hash of a node's name as a text, by which the index of AzDriverNodes has it. */
struct node_key {
    char text[17];
};
struct node_key node_key_of(uint64_t node);

/* `ctx` is the extender. */
struct kube_object *digest_claim(void *ctx, const struct kube_object *object);
struct kube_object *digest_volume(void *ctx, const struct kube_object *object);
struct kube_object *digest_attachment(void *ctx, const struct kube_object *object);
struct kube_object *digest_driver_node(void *ctx, const struct kube_object *object);
