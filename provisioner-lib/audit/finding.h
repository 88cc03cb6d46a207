/* finding.h - what the audit can find, one table of all kinds, and lists of what it has found.
 *
 * A finding is about an object of Kubernetes, or about a thing that only the cloud has. Its key
 * is the same at every scan for as long as it lasts.
 */
#pragma once

#include "lib/api/resources.h"
#include "lib/kube/object.h"

enum finding_kind {
    DISK_NOT_ATTACHED,
    LUN_DIFFERS,
    ATTACHED_WITHOUT_RECORD,
    FOREIGN_DISK,
    TWO_PRIMARIES,
    REPLICA_IN_USE,
    SHARES_EXCEEDED,
    PUBLISHED_WITHOUT_PRIMARY,
    PRIMARY_NOT_PUBLISHED,
    ATTACHMENT_WITHOUT_VOLUME,
    VOLUME_WITHOUT_DISK,
    VOLUME_WITHOUT_PV,
    SIZE_DIFFERS,
    SHARES_DIFFER,
    ANOTHER_DISK,
    DISK_WITHOUT_VOLUME,
    ATTACHED_OUTSIDE,
    OWNER_GONE,
    DISKS_NOT_LISTED,
    RECORD_WITHOUT_SNAPSHOT,
    SNAPSHOT_WITHOUT_RECORD,
    SNAPSHOT_WITHOUT_CONTENT,
    SNAPSHOTS_NOT_LISTED,
    FINDING_KINDS,
};

enum severity {
    SEVERITY_NOTE, /* worth knowing; nothing is wrong */
    SEVERITY_WARNING,
    SEVERITY_DANGER, /* data or a running pod may be at stake */
};

struct finding_kind_row {
    const char *name; /* in metrics and as the reason of events */
    enum severity severity;
    /* What the cloud has settles it, or Kubernetes: the controller reads that again and corrects
     * the record. */
    bool provable;
    const char *meaning; /* a sentence, like the next two */
    const char *loss;    /* what a user has lost, or may lose */
    const char *advice;
};

extern const struct finding_kind_row FINDING_TABLE[FINDING_KINDS];
/* The kind's name in the deprecated metric and JSON member, which 0.2.0 removes
 * (docs/upgrading.md). */
const char *finding_former_name(enum finding_kind kind);
const char *severity_name(enum severity severity);

struct finding {
    enum finding_kind kind;
    const struct api_resource *resource; /* NULL: the finding is about a thing in the cloud */
    struct kube_object *object;          /* referenced; NULL likewise */
    char *subject;                       /* "AzVolume/pvc-1", "/subscriptions/..." */
    char *text;                          /* what was seen */
    char *key;
};

struct findings {
    struct finding *items;
    size_t n;
};

void findings_fini(struct findings *list);

/* `place` distinguishes two findings of one kind about one object; NULL if there is at most one. */
void findings_add(struct findings *list, enum finding_kind kind,
                  const struct api_resource *resource, struct kube_object *object,
                  const char *place, const char *format, ...) __attribute__((format(printf, 6, 7)));
void findings_add_thing(struct findings *list, enum finding_kind kind, const char *thing,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
