#include "controller/failover/node_leases.h"

#include <string.h>

#include "controller/failover/machine_look.h"
#include "controller/failover/silence.h"
#include "controller/metrics.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/kube/node.h"
#include "lib/kube/pages.h"

/* Reads in a grace period: what is silent is known late by one of them at most. */
enum { READS_IN_GRACE = 8, PAGE = 500, MINUTE_MS = 60 * 1000 };

struct failover {
    char *node, *said;
    uint64_t begun;
    UT_hash_handle hh;
};

struct node_leases {
    struct controller *controller;
    struct kube *kube; /* whose calls are of no use for longer than some reads take */
    struct silence silence;
    struct failover *failovers;
    struct machine_looks *looks;
    uint64_t recent[MOST_FAILOVERS_A_MINUTE]; /* when the last ones were begun; 0: not yet */
    unsigned n_recent;                        /* how many ever were */
    unsigned n_silent;                        /* at the last read */
    bool failing;
};

static struct node_leases *of(const struct controller *controller)
{
    return controller->leading ? controller->leading->node_leases : NULL;
}

/* ---- failovers ---- */

static struct failover *find(const struct node_leases *leases, const char *node)
{
    struct failover *failover;

    HASH_FIND_STR(leases->failovers, node, failover);
    return failover;
}

static struct failover *failover_of(struct node_leases *leases, const char *node)
{
    struct failover *failover = find(leases, node);

    if (failover)
        return failover;
    failover = mem_alloc(sizeof *failover);
    failover->node = mem_strdup(node);
    HASH_ADD_KEYPTR(hh, leases->failovers, failover->node, strlen(failover->node), failover);
    return failover;
}

static void forget(struct node_leases *leases, const char *node)
{
    struct failover *failover = find(leases, node);

    machine_look_forget(leases->looks, node);
    if (!failover)
        return;
    HASH_DEL(leases->failovers, failover);
    free(failover->node);
    free(failover->said);
    free(failover);
}

uint64_t failover_begun(const struct controller *controller, const char *node)
{
    const struct failover *failover = of(controller) ? find(of(controller), node) : NULL;

    return failover ? failover->begun : 0;
}

void failover_begin(struct controller *controller, const char *node)
{
    struct node_leases *leases = of(controller);

    if (!leases || failover_begun(controller, node))
        return;
    failover_of(leases, node)->begun = loop_now(controller->loop);
    leases->recent[leases->n_recent++ % MOST_FAILOVERS_A_MINUTE] = loop_now(controller->loop);
}

void failover_end(struct controller *controller, const char *node)
{
    if (of(controller))
        forget(of(controller), node);
}

unsigned failovers_begun_recently(const struct controller *controller)
{
    const struct node_leases *leases = of(controller);
    uint64_t now = loop_now(controller->loop);
    unsigned n = 0;

    for (size_t i = 0; leases && i < MOST_FAILOVERS_A_MINUTE && i < leases->n_recent; i++)
        n += now - leases->recent[i] < MINUTE_MS;
    return n;
}

bool failover_is_news(struct controller *controller, const char *node, const char *text)
{
    struct node_leases *leases = of(controller);

    if (!leases)
        return false;
    struct failover *failover = failover_of(leases, node);
    if (failover->said && strcmp(failover->said, text) == 0)
        return false;
    free(failover->said);
    failover->said = mem_strdup(text);
    return true;
}

struct machine_looks *failover_machine_looks(const struct controller *controller)
{
    return of(controller) ? of(controller)->looks : NULL;
}

/* ---- silence ---- */

struct node_silence node_silence_of(const struct controller *controller, const char *node)
{
    const struct node_leases *leases = of(controller);
    const char *since = leases ? silence_since(&leases->silence, node) : NULL;

    if (!since)
        return (struct node_silence){0};
    return (struct node_silence){.since = since,
                                 .boot_id = silence_boot_id(&leases->silence, node),
                                 .ms = silence_ms(&leases->silence, node)};
}

bool node_silence_is_of_boot(const struct controller *controller, const char *node,
                             const char *boot_id)
{
    const struct node_leases *leases = of(controller);

    return leases && silence_is_of_boot(&leases->silence, node, boot_id);
}

bool node_leases_note_kubelet(const struct controller *controller, const char *node,
                              const Api__Lease *lease)
{
    return of(controller) && silence_note_kubelet(&of(controller)->silence, node, lease);
}

unsigned node_leases_overdue_with(const struct controller *controller, const char *node)
{
    return of(controller) ? silence_overdue_with(&of(controller)->silence, node) : 0;
}

static const char *boot_id_of(const struct controller *controller, const char *name)
{
    const struct kube_object *node = store_get(controller->nodes, name);

    return node ? node_boot_id(KUBE_AS(Api__Node, node)) : NULL;
}

static void note_page(struct node_leases *leases, const json_t *page)
{
    const json_t *items = json_object_get(page, "items");

    for (size_t i = 0; i < json_array_size(items); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *lease = NULL;
        CLEANUP(err_freep)
        struct err *err = kube_object_decode(LEASES.type, json_array_get(items, i), &lease);

        if (!err) /* else it is none that a plug-in has written */
            silence_note(&leases->silence, KUBE_AS(Api__Lease, lease),
                         boot_id_of(leases->controller, lease->metadata->name));
    }
}

static struct err *read_leases(struct task *self, struct node_leases *leases)
{
    struct controller *controller = leases->controller;
    const struct kube_query query = {.label_selector = LABEL_NODE_LEASE "=true", .limit = PAGE};
    CLEANUP(kube_pages_fini) struct kube_pages pages;

    kube_pages_init(&pages, leases->kube, &LEASES, controller->settings.namespace_, &query);
    silence_begin(&leases->silence, loop_now(controller->loop));
    for (;;) {
        CLEANUP(json_decrefp) json_t *page = NULL;

        TRY(kube_pages_next(self, &pages, &page));
        if (!page)
            break;
        note_page(leases, page);
    }
    silence_end(&leases->silence, loop_now(controller->loop));
    return NULL;
}

static const char *zone_in_service(void *ctx, const char *name)
{
    const struct controller *controller = ctx;
    const struct kube_object *node = store_get(controller->nodes, name);

    if (!node || node_is_out_of_service(KUBE_AS(Api__Node, node)))
        return NULL;
    const char *zone = kube_label(node->metadata, ZONE_OF_KUBERNETES);
    return zone ? zone : "";
}

/* A node that was given up may be off for days: what is left to do for it, the changes of objects
 * bring about (reconcile.h). */
static void on_news(void *ctx, const char *node, bool changed)
{
    struct node_leases *leases = ctx;
    bool silent = silence_since(&leases->silence, node) != NULL;
    bool waits = silent && zone_in_service(leases->controller, node);

    if (!silent)
        forget(leases, node);
    leases->n_silent += waits;
    if (waits || changed)
        enqueue(leases->controller, FAILOVER_QUEUE, node);
}

/* What is decided by the news, goes by how many are overdue. */
static void tell_news(struct node_leases *leases)
{
    silence_note_overdue(&leases->silence, zone_in_service, leases->controller);
    leases->n_silent = 0;
    silence_each_news(&leases->silence, on_news, leases);
    metric_set(&METRIC_SILENT_NODES, leases->n_silent);
}

/* Once of each time in which it fails. */
static void tell(struct node_leases *leases, const struct err *err)
{
    if (err && err_kind(err) == ERR_CANCELED)
        return;
    if (err && !leases->failing)
        log_warning("the Leases of the nodes cannot be read, and meanwhile no node counts as "
                    "silent for longer: %s",
                    err_message(err));
    leases->failing = err != NULL;
}

static void run(struct task *self, void *arg)
{
    struct node_leases *leases = arg;

    while (!task_is_cancelled(self)) {
        CLEANUP(err_freep) struct err *err = read_leases(self, leases);

        tell(leases, err);
        if (err)
            silence_failed(&leases->silence);
        else
            tell_news(leases);
        err_free(task_sleep(self, leases->silence.period_ms));
    }
}

/* ---- its life ---- */

struct node_leases *node_leases_start(struct controller *controller, struct task_group *group)
{
    uint64_t grace_ms = controller->settings.node_grace_period_ms;

    if (!grace_ms)
        return NULL;
    struct node_leases *leases = mem_alloc(sizeof *leases);
    leases->controller = controller;
    leases->kube = kube_urgent(controller->leader_kube, grace_ms);
    leases->looks = machine_looks_new(controller, group);
    leases->silence =
        (struct silence){.grace_ms = grace_ms, .period_ms = grace_ms / READS_IN_GRACE};
    group_spawn(group, "node leases", run, leases);
    return leases;
}

void node_leases_free(struct node_leases *leases)
{
    if (!leases)
        return;
    HASH_FOREACH(leases->failovers, failover)
        forget(leases, failover->node);
    machine_looks_free(leases->looks);
    silence_clear(&leases->silence);
    kube_free(leases->kube);
    free(leases);
}
