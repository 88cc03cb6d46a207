#include "controller/scheduling/node_info.h"

#include <stdlib.h>
#include <string.h>

#include "lib/api/azdisk.pb-c.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "provisioner-lib/records/attachment.h"
#include "provisioner-lib/records/driver_node.h"

struct node_infos {
    struct loop *loop;
    uint64_t heartbeat_limit_ms;
    char *zone_label;
    struct node_info **rows;
    size_t n;
    struct node_info *by_name;
    struct list assumed;
    /* Loop time of the last heartbeat of any plug-in, and of the first one since there was a gap in
     * which there was none. */
    uint64_t heard_at, hearing_since;
};

struct node_infos *node_infos_new(struct loop *loop, const char *driver_name,
                                  uint64_t heartbeat_limit_ms)
{
    struct node_infos *table = mem_alloc(sizeof *table);

    table->loop = loop;
    table->heartbeat_limit_ms = heartbeat_limit_ms;
    table->heard_at = table->hearing_since = loop_now(loop);
    list_init(&table->assumed);
    table->zone_label = mem_printf(ZONE_OF_DRIVER, driver_name);
    return table;
}

static void free_row(struct node_info *row)
{
    kube_object_unref(row->node);
    free(row->name);
    free(row);
}

void node_infos_free(struct node_infos *table)
{
    if (!table)
        return;
    HASH_FOREACH(table->by_name, row) {
        HASH_DEL(table->by_name, row);
        free_row(row);
    }
    free(table->rows);
    free(table->zone_label);
    free(table);
}

size_t node_infos_count(const struct node_infos *table)
{
    return table->n;
}

struct node_info *node_infos_at(const struct node_infos *table, size_t index)
{
    return table->rows[index];
}

struct node_info *node_infos_find(const struct node_infos *table, const char *name)
{
    struct node_info *row;

    HASH_FIND_STR(table->by_name, name, row);
    return row;
}

/* ---- of a row ---- */

static bool is_heard(const struct node_infos *table, const struct node_info *row)
{
    return !heartbeat_is_stale(row->heard_us, loop_wall_us(table->loop), table->heartbeat_limit_ms);
}

bool node_info_is_ready(const struct node_infos *table, const struct node_info *row)
{
    return row->ready && row->plugin_ready && is_heard(table, row);
}

static bool is_gap(const struct node_infos *table)
{
    return loop_now(table->loop) - table->heard_at >= table->heartbeat_limit_ms / 2;
}

/* While nobody is heard of it is the API server that is away, or this process that hears nothing;
 * afterwards each plug-in has its time to be heard of again. Otherwise all replicas would move to
 * the nodes that are heard of first. */
static bool does_silence_count(const struct node_infos *table)
{
    return !is_gap(table) &&
           loop_now(table->loop) - table->hearing_since >= table->heartbeat_limit_ms;
}

bool node_info_is_unreachable(const struct node_infos *table, const struct node_info *row)
{
    if (row->given_up || !row->has_plugin || (!is_heard(table, row) && does_silence_count(table)))
        return true;
    return row->unwell && loop_now(table->loop) - row->unwell_since >= table->heartbeat_limit_ms;
}

unsigned node_info_free_slots(const struct node_info *row)
{
    unsigned taken = row->attachments + row->assumed;

    return row->slots > taken ? row->slots - taken : 0;
}

/* ---- changes ---- */

static void set_labels(const struct node_infos *table, struct node_info *row)
{
    static const char *const pools[] = {"kubernetes.azure.com/agentpool", "agentpool"};
    const Api__ObjectMeta *metadata = row->node ? row->node->metadata : NULL;
    const char *zone = metadata ? kube_label(metadata, table->zone_label) : NULL;
    const char *domain = metadata ? kube_label(metadata, ZONE_OF_KUBERNETES) : NULL;
    const char *priority =
        metadata ? kube_label(metadata, "kubernetes.azure.com/scalesetpriority") : NULL;

    row->zone = zone ? zone : "";
    row->fault_domain = domain ? domain : ""; /* that is what it has where there are no zones */
    row->pool = "";
    for (size_t i = 0; metadata && i < COUNT_OF(pools) && !row->pool[0]; i++) {
        const char *pool = kube_label(metadata, pools[i]);

        row->pool = pool ? pool : "";
    }
    row->spot = priority && strcmp(priority, "spot") == 0;
}

static struct node_info *row_for(struct node_infos *table, const char *name)
{
    struct node_info *row = node_infos_find(table, name);

    if (row)
        return row;
    row = mem_alloc(sizeof *row);
    row->name = mem_strdup(name);
    row->given_up = true;
    row->unwell = true;
    row->unwell_since = loop_now(table->loop);
    row->was_unreachable = true;
    row->index = table->n;
    set_labels(table, row);
    ARRAY_ADD(table->rows, table->n) = row;
    HASH_ADD_KEYPTR(hh, table->by_name, row->name, strlen(row->name), row);
    return row;
}

static void drop_if_empty(struct node_infos *table, struct node_info *row)
{
    if (row->node || row->has_plugin || row->attachments || row->assumed)
        return;
    table->rows[row->index] = table->rows[--table->n];
    table->rows[row->index]->index = row->index;
    HASH_DEL(table->by_name, row);
    free_row(row);
}

static void note_health(const struct node_infos *table, struct node_info *row)
{
    bool unwell = !row->ready || !row->plugin_ready;

    if (unwell && !row->unwell)
        row->unwell_since = loop_now(table->loop);
    row->unwell = unwell;
}

/* The status of the condition Ready: "True", "False", or "Unknown" once the node was silent for too
 * long; "" if there is none. */
static const char *readiness(const Api__Node *node)
{
    for (size_t i = 0; node->status && i < node->status->n_conditions; i++) {
        const Api__NodeCondition *condition = node->status->conditions[i];

        if (condition->type && condition->status && strcmp(condition->type, "Ready") == 0)
            return condition->status;
    }
    return "";
}

void node_infos_node_changed(struct node_infos *table, const struct kube_object *before,
                             struct kube_object *after)
{
    struct node_info *row = row_for(table, (after ? after : before)->metadata->name);
    const char *status = after ? readiness(KUBE_AS(Api__Node, after)) : "";

    kube_object_unref(row->node);
    row->node = after ? kube_object_ref(after) : NULL;
    row->ready = strcmp(status, "True") == 0;
    row->given_up = !after || strcmp(status, "Unknown") == 0;
    set_labels(table, row);
    note_health(table, row);
    drop_if_empty(table, row);
}

static void note_heartbeat(struct node_infos *table, struct node_info *row, int64_t heard_us)
{
    uint64_t now = loop_now(table->loop);

    if (heard_us && heard_us != row->heard_us) {
        if (is_gap(table))
            table->hearing_since = now;
        table->heard_at = now;
    }
    row->heard_us = heard_us;
}

void node_infos_plugin_changed(struct node_infos *table, const struct kube_object *before,
                               const struct kube_object *after)
{
    struct node_info *row = row_for(table, (after ? after : before)->metadata->name);
    const Api__AzDriverNodeStatus *status =
        after ? KUBE_AS(Api__AzDriverNode, after)->status : NULL;

    row->has_plugin = after != NULL;
    row->plugin_ready = status && status->ready_for_volume_allocation;
    note_heartbeat(table, row, after ? driver_node_heard_us(KUBE_AS(Api__AzDriverNode, after)) : 0);
    row->slots =
        status && status->slots && status->slots->limit > 0 ? (unsigned)status->slots->limit : 0;
    note_health(table, row);
    drop_if_empty(table, row);
}

static void count(struct node_infos *table, const struct kube_object *object, unsigned by)
{
    const Api__AzVolumeAttachmentSpec *spec = object ? as_attachment(object)->spec : NULL;

    if (!spec || !spec->node_name)
        return;
    struct node_info *row = row_for(table, spec->node_name);
    row->attachments += by;
    if (attachment_wants(as_attachment(object), ROLE_PRIMARY))
        row->primaries += by;
    drop_if_empty(table, row);
}

void node_infos_attachment_changed(struct node_infos *table, const struct kube_object *before,
                                   const struct kube_object *after)
{
    count(table, after, 1);
    count(table, before, -1U);
}

void node_infos_assume(struct node_infos *table, struct assumed_attachment *assumed)
{
    row_for(table, assumed->node)->assumed++;
    list_append(&table->assumed, &assumed->link);
}

void node_infos_forget(struct node_infos *table, struct assumed_attachment *assumed)
{
    struct node_info *row = row_for(table, assumed->node);

    list_remove(&assumed->link);
    row->assumed--;
    drop_if_empty(table, row);
}

const struct assumed_attachment *node_infos_next_assumed(const struct node_infos *table,
                                                         const struct assumed_attachment *previous)
{
    struct list *link = previous ? previous->link.next : table->assumed.next;

    return link == &table->assumed ? NULL : CONTAINER_OF(link, struct assumed_attachment, link);
}

struct node_info *node_infos_newly_unreachable(struct node_infos *table)
{
    for (size_t i = 0; i < table->n; i++) {
        struct node_info *row = table->rows[i];
        bool was_unreachable = row->was_unreachable;

        row->was_unreachable = node_info_is_unreachable(table, row);
        if (row->was_unreachable && !was_unreachable)
            return row;
    }
    return NULL;
}
