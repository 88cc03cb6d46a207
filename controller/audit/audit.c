#include "controller/audit/audit.h"

#include <stdlib.h>
#include <string.h>

#include "controller/attachment/snapshot.h"
#include "controller/audit/source.h"
#include "controller/metrics.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "provisioner-lib/audit/compare.h"
#include "provisioner-lib/audit/ledger.h"
#include "provisioner-lib/audit/look.h"

#define RECORDS "records"
#define DISKS "disks"
#define NODE_PREFIX "node/"

/* Of so many looks one is at the records, which costs no call, and one at the disks, which may cost
 * many; the rest are at machines. */
enum { RECORDS_EVERY = 6, DISKS_EVERY = 30 };

struct audit {
    struct controller *controller;
    struct audit_source cluster;
    struct ledger *ledger;
    unsigned turn;
    bool looks_again; /* this look is the second one at something doubtful */
    char *last_node;  /* whose machine was looked at last; NULL: none yet */

    struct kube_object **to_repair; /* attachments, referenced */
    size_t n_to_repair;
};

/* ---- what comes of a look ---- */

static bool is_repaired(const struct audit *audit, enum difference_kind kind)
{
    return DIFFERENCE_TABLE[kind].provable && audit->controller->settings.repair == REPAIR_SAFE;
}

/* The table says what to do where everything provable is repaired. */
static const char *advice(const struct audit *audit, enum difference_kind kind)
{
    if (DIFFERENCE_TABLE[kind].provable && !is_repaired(audit, kind))
        return "The controller leaves it as it is (--repair=none); with --repair=safe it puts the "
               "record right.";
    return DIFFERENCE_TABLE[kind].advice;
}

static void appeared(void *ctx, const struct difference *difference)
{
    const struct audit *audit = ctx;
    const struct difference_kind_row *row = &DIFFERENCE_TABLE[difference->kind];

    log_warning("audit: %s: %s: %s", row->name, difference->subject, difference->text);
    if (difference->object)
        events_record(audit->controller->events, difference->resource, difference->object->metadata,
                      row->severity == SEVERITY_NOTE ? EVENT_NORMAL : EVENT_WARNING, row->name,
                      "Audit", "%s. %s %s", difference->text, row->loss,
                      advice(audit, difference->kind));
}

static void lasts(void *ctx, const struct difference *difference)
{
    struct audit *audit = ctx;

    if (is_repaired(audit, difference->kind))
        ARRAY_ADD(audit->to_repair, audit->n_to_repair) = kube_object_ref(difference->object);
}

static void went(void *ctx, const struct difference *difference)
{
    (void)ctx;
    log_info("audit: %s: %s: no longer", DIFFERENCE_TABLE[difference->kind].name,
             difference->subject);
}

static void forget_repairs(struct audit *audit)
{
    for (size_t i = 0; i < audit->n_to_repair; i++)
        kube_object_unref(audit->to_repair[i]);
    free(audit->to_repair);
    audit->to_repair = NULL;
    audit->n_to_repair = 0;
}

static void take(struct audit *audit, const char *scope, struct differences *seen)
{
    ledger_take(audit->ledger, scope, seen,
                &(struct ledger_callbacks){
                    .appeared = appeared, .lasts = lasts, .went = went, .ctx = audit});
    for (int kind = 0; kind < DIFFERENCE_KINDS; kind++)
        metric_set(&METRIC_AUDIT_DIFFERENCES, (double)ledger_count(audit->ledger, kind),
                   DIFFERENCE_TABLE[kind].name);
}

/* The reconciler decides by the model that is kept, which must be what was seen here, or newer. */
static struct err *repair(struct task *self, struct audit *audit, const char *machine_id)
{
    struct controller *controller = audit->controller;
    CLEANUP(cloud_instance_fini) struct cloud_instance unused = {0};

    if (!audit->n_to_repair)
        return NULL;
    if (machine_id)
        TRY(controller->cloud->ops->instance_get(self, controller->cloud, machine_id, 0,
                                                 CLOUD_AUDIT, &unused));
    for (size_t i = 0; i < audit->n_to_repair; i++) {
        const Api__ObjectMeta *metadata = audit->to_repair[i]->metadata;

        attachment_set_verified(controller, metadata->uid, false);
        enqueue(controller, controller->attachment_queue, metadata->name);
    }
    return NULL;
}

/* ---- the looks ---- */

static struct err *look_at_records(struct task *self, struct audit *audit)
{
    CLEANUP(differences_fini) struct differences seen = {0};

    TRY(compare_records(self, &audit->cluster.source, &seen));
    take(audit, RECORDS, &seen);
    return NULL;
}

static struct err *look_at_all_disks(struct task *self, struct audit *audit)
{
    const struct cluster_source *source = &audit->cluster.source;
    CLEANUP(disks_look_fini) struct disks_look look = {0};
    CLEANUP(differences_fini) struct differences seen = {0};

    TRY(look_at_disks(self, audit->controller->cloud, source, &look));
    TRY(compare_disks(self, source, &look, &seen));
    take(audit, DISKS, &seen);
    return NULL;
}

static struct err *look_at_node(struct task *self, struct audit *audit, const char *name)
{
    struct controller *controller = audit->controller;
    CLEANUP(freep) char *scope = mem_printf(NODE_PREFIX "%s", name);
    CLEANUP(differences_fini) struct differences seen = {0};
    CLEANUP(cloud_instance_fini) struct cloud_instance machine = {0};
    CLEANUP(kube_object_unrefp) struct kube_object *node = store_get(controller->nodes, name);
    bool found;

    if (!node) {
        take(audit, scope, &seen);
        return NULL;
    }
    kube_object_ref(node);
    TRY(look_at_machine(self, controller->cloud, node, &machine, &found));
    compare_machine(&audit->cluster.source, node, found ? &machine : NULL, &seen);
    take(audit, scope, &seen);
    return repair(self, audit, machine.id);
}

/* ---- whose turn it is ---- */

/* Nodes in the order of their names, so that it does not matter which come and go. */
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

/* free() it. Every other look may be a second one, so that something that cannot be looked at a
 * second time does not keep the rest from being looked at. */
static char *next_scope(struct audit *audit)
{
    const char *doubtful = ledger_doubtful(audit->ledger);

    audit->looks_again = doubtful && !audit->looks_again;
    if (audit->looks_again)
        return mem_strdup(doubtful);
    unsigned turn = audit->turn++;
    if (turn % DISKS_EVERY == 1)
        return mem_strdup(DISKS);
    const char *node = next_node(audit);
    if (turn % RECORDS_EVERY == 0 || !node)
        return mem_strdup(RECORDS);
    free(audit->last_node);
    audit->last_node = mem_strdup(node);
    return mem_printf(NODE_PREFIX "%s", node);
}

/* What was told of a node that has left the cluster lasts no longer. */
static void drop_nodes(struct audit *audit)
{
    CLEANUP(freep) char *scope = NULL;
    const char *next;

    while ((next = ledger_next_scope(audit->ledger, scope))) {
        struct differences none = {0};

        free(scope);
        scope = mem_strdup(next);
        if (strncmp(scope, NODE_PREFIX, strlen(NODE_PREFIX)) == 0 &&
            !store_get(audit->controller->nodes, scope + strlen(NODE_PREFIX)))
            take(audit, scope, &none);
    }
}

static struct err *look(struct task *self, struct audit *audit, const char *scope)
{
    if (strcmp(scope, RECORDS) == 0)
        return look_at_records(self, audit);
    if (strcmp(scope, DISKS) == 0)
        return look_at_all_disks(self, audit);
    return look_at_node(self, audit, scope + strlen(NODE_PREFIX));
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
        CLEANUP(err_freep) struct err *err = look(self, audit, scope);
        metric_add(&METRIC_AUDIT_LOOKS, 1, err ? err_kind_reason(err_kind(err)) : "ok");
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
    audit->ledger = ledger_new();
    group_spawn(group, "audit", run, audit);
    return audit;
}

void audit_free(struct audit *audit)
{
    if (!audit)
        return;
    ledger_free(audit->ledger);
    free(audit->last_node);
    free(audit);
}
