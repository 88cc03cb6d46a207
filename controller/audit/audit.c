#include "controller/audit/audit.h"

#include <stdlib.h>
#include <string.h>

#include "controller/attachment/disk_look.h"
#include "controller/attachment/snapshot.h"
#include "controller/attachment/unpublished.h"
#include "controller/audit/source.h"
#include "controller/metrics.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/audit/compare.h"
#include "provisioner-lib/audit/finding_tracker.h"
#include "provisioner-lib/audit/scan.h"

#define RECORDS "records"
#define DISKS "disks"
#define SNAPSHOTS "snapshots"
#define NODE_PREFIX "node/"

/* One of so many scans covers the records, which costs no call; of those that may cost many, one
 * covers the disks, and one the snapshots. The others cover the VMs of nodes. */
enum { RECORDS_EVERY = 6, ALL_EVERY = 30, DISKS_TURN = 1, SNAPSHOTS_TURN = 16 };

/* An object whose record is corrected by what the cloud has, or Kubernetes. */
struct target {
    enum finding_kind kind;
    struct kube_object *object; /* referenced */
};

struct audit {
    struct controller *controller;
    struct audit_source cluster;
    struct finding_tracker *tracker;
    unsigned turn;
    bool scans_again; /* this scan repeats one with an unconfirmed finding */
    char *last_node;  /* the node whose VM was scanned last; NULL: none yet */

    struct target *to_repair;
    size_t n_to_repair;
};

/* ---- results of a scan ---- */

static bool is_repaired(const struct audit *audit, enum finding_kind kind)
{
    return FINDING_TABLE[kind].provable && audit->controller->settings.repair == REPAIR_SAFE;
}

/* The table's advice assumes that everything provable is repaired. */
static const char *advice(const struct audit *audit, enum finding_kind kind)
{
    if (FINDING_TABLE[kind].provable && !is_repaired(audit, kind))
        return "The controller leaves the record as it is (--repair=none). Set --repair=safe to "
               "let it correct such records.";
    return FINDING_TABLE[kind].advice;
}

static void appeared(void *ctx, const struct finding *finding)
{
    const struct audit *audit = ctx;
    const struct finding_kind_row *row = &FINDING_TABLE[finding->kind];

    log_warning("audit: %s: %s: %s", row->name, finding->subject, finding->text);
    if (finding->object)
        events_record(audit->controller->events, finding->resource, finding->object->metadata,
                      row->severity == SEVERITY_NOTE ? EVENT_NORMAL : EVENT_WARNING, row->name,
                      "Audit", "%s. %s %s", finding->text, row->loss, advice(audit, finding->kind));
}

static void lasts(void *ctx, const struct finding *finding)
{
    struct audit *audit = ctx;

    if (is_repaired(audit, finding->kind))
        ARRAY_ADD(audit->to_repair, audit->n_to_repair) =
            (struct target){finding->kind, kube_object_ref(finding->object)};
}

static void went(void *ctx, const struct finding *finding)
{
    (void)ctx;
    log_info("audit: %s: %s: resolved", FINDING_TABLE[finding->kind].name, finding->subject);
}

static void forget_repairs(struct audit *audit)
{
    for (size_t i = 0; i < audit->n_to_repair; i++)
        kube_object_unref(audit->to_repair[i].object);
    free(audit->to_repair);
    audit->to_repair = NULL;
    audit->n_to_repair = 0;
}

static void take(struct audit *audit, const char *scope, struct findings *seen)
{
    finding_tracker_update(audit->tracker, scope, seen,
                           &(struct finding_callbacks){
                               .appeared = appeared, .lasts = lasts, .went = went, .ctx = audit});
    for (int kind = 0; kind < FINDING_KINDS; kind++) {
        double n = (double)finding_tracker_count(audit->tracker, kind);

        metric_set(&METRIC_AUDIT_FINDINGS, n, FINDING_TABLE[kind].name);
        metric_set(&METRIC_AUDIT_DIFFERENCES, n, finding_former_name(kind));
    }
}

static bool is_of_disk(enum finding_kind kind)
{
    return kind == SIZE_DIFFERS || kind == SHARES_DIFFER || kind == ANOTHER_DISK;
}

static struct err *repair_disks(struct task *self, struct audit *audit)
{
    for (size_t i = 0; i < audit->n_to_repair; i++)
        if (is_of_disk(audit->to_repair[i].kind))
            TRY(disk_look_request(self, audit->controller, audit->to_repair[i].object));
    return NULL;
}

/* One that Kubernetes has unpublished without telling the driver. */
static struct err *repair_primaries(struct task *self, struct audit *audit)
{
    struct controller *controller = audit->controller;
    bool is_unpublished;

    for (size_t i = 0; i < audit->n_to_repair; i++) {
        if (audit->to_repair[i].kind != PRIMARY_NOT_PUBLISHED)
            continue;
        TRY(unpublished_read(self, controller, audit->to_repair[i].object, &is_unpublished));
        if (is_unpublished)
            TRY(unpublished_demote(self, controller, audit->to_repair[i].object, NULL));
    }
    return NULL;
}

/* The reconciler decides by the cached model, which must be as new as the one that was scanned. */
static struct err *repair_attachments(struct task *self, struct audit *audit,
                                      const char *machine_id)
{
    struct controller *controller = audit->controller;
    CLEANUP(cloud_instance_fini) struct cloud_instance unused = {0};

    if (!audit->n_to_repair)
        return NULL;
    if (machine_id)
        TRY(controller->cloud->ops->instance_get(self, controller->cloud, machine_id, 0,
                                                 CLOUD_AUDIT, &unused));
    for (size_t i = 0; i < audit->n_to_repair; i++) {
        const Api__ObjectMeta *metadata = audit->to_repair[i].object->metadata;

        attachment_set_verified(controller, metadata->uid, false);
        enqueue(controller, ATTACHMENT_QUEUE, metadata->name);
    }
    return NULL;
}

/* ---- the scans ---- */

static struct err *scan_records(struct task *self, struct audit *audit)
{
    CLEANUP(findings_fini) struct findings seen = {0};

    TRY(compare_records(self, &audit->cluster.source, &seen));
    take(audit, RECORDS, &seen);
    return repair_primaries(self, audit);
}

static struct err *scan_all_disks(struct task *self, struct audit *audit)
{
    const struct cluster_source *source = &audit->cluster.source;
    CLEANUP(disk_scan_fini) struct disk_scan scan = {0};
    CLEANUP(findings_fini) struct findings seen = {0};

    TRY(scan_disks(self, audit->controller->cloud, source, &scan));
    TRY(compare_disks(self, source, &scan, &seen));
    take(audit, DISKS, &seen);
    return repair_disks(self, audit);
}

/* Without their definition, AzSnapshots are never read. */
static struct err *scan_all_snapshots(struct task *self, struct audit *audit)
{
    const struct cluster_source *source = &audit->cluster.source;
    struct controller *controller = audit->controller;
    CLEANUP(snapshot_scan_fini) struct snapshot_scan scan = {0};
    CLEANUP(snapshot_contents_fini) struct snapshot_contents contents = {0};
    CLEANUP(findings_fini) struct findings seen = {0};

    if (!store_is_synced(controller->snapshots))
        return NULL;
    TRY(snapshot_contents_read(self, controller->kube, &contents));
    TRY(scan_snapshots(self, controller->cloud, source, &scan));
    TRY(compare_contents(self, source, &contents, &seen));
    TRY(compare_snapshots(self, source, &scan, &contents, &seen));
    take(audit, SNAPSHOTS, &seen);
    return NULL;
}

static struct err *scan_node(struct task *self, struct audit *audit, const char *name)
{
    struct controller *controller = audit->controller;
    CLEANUP(freep) char *scope = mem_printf(NODE_PREFIX "%s", name);
    CLEANUP(findings_fini) struct findings seen = {0};
    CLEANUP(cloud_instance_fini) struct cloud_instance machine = {0};
    CLEANUP(kube_object_unrefp) struct kube_object *node = store_get(controller->nodes, name);
    bool found;

    if (!node) {
        take(audit, scope, &seen);
        return NULL;
    }
    kube_object_ref(node);
    TRY(scan_machine(self, controller->cloud, node, &machine, &found));
    compare_machine(&audit->cluster.source, node, found ? &machine : NULL, &seen);
    take(audit, scope, &seen);
    return repair_attachments(self, audit, machine.id);
}

/* ---- order of the scans ---- */

/* Nodes in the order of their names, so that added and removed nodes do not disturb the order. */
static const char *next_node(const struct audit *audit)
{
    const char *first = NULL, *next = NULL;

    STORE_FOREACH(audit->controller->nodes, object) {
        const char *name = object->metadata->name;

        if (!first || strcmp(name, first) < 0)
            first = name;
        if (audit->last_node && strcmp(name, audit->last_node) > 0 &&
            (!next || strcmp(name, next) < 0))
            next = name;
    }
    return next ? next : first;
}

/* free() it. At most every other scan repeats one, so that a scan that cannot be repeated does not
 * prevent the others. */
static char *next_scope(struct audit *audit)
{
    const char *unconfirmed = finding_tracker_unconfirmed(audit->tracker);

    audit->scans_again = unconfirmed && !audit->scans_again;
    if (audit->scans_again)
        return mem_strdup(unconfirmed);
    unsigned turn = audit->turn++;
    if (turn % ALL_EVERY == DISKS_TURN)
        return mem_strdup(DISKS);
    if (turn % ALL_EVERY == SNAPSHOTS_TURN)
        return mem_strdup(SNAPSHOTS);
    const char *node = next_node(audit);
    if (turn % RECORDS_EVERY == 0 || !node)
        return mem_strdup(RECORDS);
    free(audit->last_node);
    audit->last_node = mem_strdup(node);
    return mem_printf(NODE_PREFIX "%s", node);
}

/* Findings about a node that has left the cluster are resolved. */
static void drop_nodes(struct audit *audit)
{
    CLEANUP(freep) char *scope = NULL;
    const char *next;

    while ((next = finding_tracker_next_scope(audit->tracker, scope))) {
        struct findings none = {0};

        free(scope);
        scope = mem_strdup(next);
        if (strncmp(scope, NODE_PREFIX, strlen(NODE_PREFIX)) == 0 &&
            !store_get(audit->controller->nodes, scope + strlen(NODE_PREFIX)))
            take(audit, scope, &none);
    }
}

static struct err *scan(struct task *self, struct audit *audit, const char *scope)
{
    if (strcmp(scope, RECORDS) == 0)
        return scan_records(self, audit);
    if (strcmp(scope, DISKS) == 0)
        return scan_all_disks(self, audit);
    if (strcmp(scope, SNAPSHOTS) == 0)
        return scan_all_snapshots(self, audit);
    return scan_node(self, audit, scope + strlen(NODE_PREFIX));
}

static void run(struct task *self, void *arg)
{
    struct audit *audit = arg;
    const struct settings *settings = &audit->controller->settings;

    for (;;) {
        CLEANUP(err_freep) struct err *canceled = task_sleep(self, settings->audit_interval_ms);
        if (canceled)
            return;
        drop_nodes(audit);
        CLEANUP(freep) char *scope = next_scope(audit);
        CLEANUP(err_freep) struct err *err = scan(self, audit, scope);
        const char *result = err ? err_kind_reason(err_kind(err)) : "ok";
        metric_add(&METRIC_AUDIT_SCANS, 1, result);
        metric_add(&METRIC_AUDIT_LOOKS, 1, result);
        if (err && err_kind(err) != ERR_CANCELED)
            log_warning("audit: %s: %s", scope, err_message(err));
        forget_repairs(audit);
    }
}

struct audit *audit_start(struct controller *controller, struct task_group *group)
{
    if (!controller->settings.audit_interval_ms)
        return NULL;
    struct audit *audit = mem_alloc(sizeof *audit);

    audit->controller = controller;
    audit_source_init(&audit->cluster, controller);
    audit->tracker = finding_tracker_new();
    group_spawn(group, "audit", run, audit);
    return audit;
}

void audit_free(struct audit *audit)
{
    if (!audit)
        return;
    finding_tracker_free(audit->tracker);
    free(audit->last_node);
    free(audit);
}
