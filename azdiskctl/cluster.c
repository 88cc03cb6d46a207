#include "azdiskctl/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/kube/cluster_id.h"

/* ---- reading ---- */

/* A 404 says nothing to who has named no object. */
static struct err *explain(struct err *err, const struct api_resource *resource)
{
    if (!kube_is_no_such_kind(err) || strcmp(resource->group, AZ_VOLUMES.group) != 0)
        return err_wrap(err, "%s", resource->plural);
    return err_wrap(err,
                    "the driver is not installed in this cluster, which does not know %s.%s (for "
                    "another cluster see --context)",
                    resource->plural, resource->group);
}

/* An installation from before snapshots has no definition of them. */
static struct err *read_list(struct task *self, struct kube *kube,
                             const struct api_resource *resource, const char *namespace_,
                             const char *fields, struct cluster *cluster, struct object_list *ret)
{
    const struct kube_query query = {.field_selector = fields};
    struct listed listed;
    struct err *err = listed_read(self, kube, resource, namespace_, &query, &listed);

    ARRAY_ADD(cluster->owned, cluster->n_owned) = listed;
    *ret = listed.list;
    if (err && resource == &AZ_SNAPSHOTS && kube_is_no_such_kind(err)) {
        err_free(err);
        return NULL;
    }
    return err ? explain(err, resource) : NULL;
}

/* Tables without a line look as if all were well, whatever namespace was named. */
static void tell_if_empty(const struct cluster_view *view, const char *namespace_)
{
    if (!view->volumes.n && !view->attachments.n && !view->driver_nodes.n)
        fprintf(stderr,
                "azdiskctl: no volumes, attachments and nodes of the driver in namespace %s (see "
                "--object-namespace)\n",
                namespace_);
}

struct err *cluster_read(struct task *self, struct kube *kube, const struct cluster_query *query,
                         struct cluster *ret)
{
    const char *objects = query->object_namespace;
    CLEANUP(freep)
    char *on_node = query->pod_node ? mem_printf("spec.nodeName=%s", query->pod_node) : NULL;
    struct cluster_view *view = &ret->view;
    const struct {
        unsigned part; /* 0: always */
        const struct api_resource *resource;
        const char *namespace_;
        struct object_list *list;
    } lists[] = {
        {0, &AZ_VOLUMES, objects, &view->volumes},
        {0, &AZ_VOLUME_ATTACHMENTS, objects, &view->attachments},
        {0, &AZ_DRIVER_NODES, objects, &view->driver_nodes},
        {0, &NODES, NULL, &view->nodes},
        {0, &PERSISTENT_VOLUMES, NULL, &view->persistent_volumes},
        {CLUSTER_VOLUME_ATTACHMENTS, &VOLUME_ATTACHMENTS, NULL, &view->volume_attachments},
        {CLUSTER_CLAIMS, &PERSISTENT_VOLUME_CLAIMS, NULL, &ret->claims},
        {CLUSTER_PODS, &PODS, query->pod_namespace, &ret->pods},
        {CLUSTER_EVENTS, &EVENTS, NULL, &ret->events},
        {CLUSTER_SNAPSHOTS, &AZ_SNAPSHOTS, objects, &view->snapshots},
    };

    *ret = (struct cluster){.view.driver_name = query->driver_name,
                            .now_us = loop_wall_us(loop_of(self))};
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (!lists[i].part || query->parts & lists[i].part)
            TRY(read_list(self, kube, lists[i].resource, lists[i].namespace_,
                          lists[i].resource == &PODS ? on_node : NULL, ret, lists[i].list));
    if (query->parts & CLUSTER_IDENTITY)
        TRY(kube_cluster_id(self, kube, &ret->cluster_id));
    view->cluster_id = ret->cluster_id;
    tell_if_empty(view, objects);
    return NULL;
}

struct err *cluster_read_pods(struct task *self, struct kube *kube, const char *namespace_,
                              struct cluster *cluster)
{
    return read_list(self, kube, &PODS, namespace_, NULL, cluster, &cluster->pods);
}

void cluster_fini(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->n_owned; i++)
        listed_fini(&cluster->owned[i]);
    free(cluster->owned);
    free(cluster->cluster_id);
    *cluster = (struct cluster){0};
}

/* ---- what objects say ---- */

char *volume_zones(const struct cluster *cluster, const struct kube_object *volume)
{
    const Api__AzVolumeStatus *status = KUBE_AS(Api__AzVolume, volume)->status;
    const Api__AzVolumeDetail *detail = status ? status->detail : NULL;
    CLEANUP(freep) char *key = mem_printf(ZONE_OF_DRIVER, cluster->view.driver_name);
    char *zones = NULL;

    for (size_t i = 0; detail && i < detail->n_accessible__topology; i++) {
        const Api__AzTopology *topology = detail->accessible__topology[i];
        const char *zone = KUBE_MAP_GET(topology->segments, topology->n_segments, key);

        if (!zone || !*zone)
            continue;
        char *longer = zones ? mem_printf("%s,%s", zones, zone) : mem_strdup(zone);
        free(zones);
        zones = longer;
    }
    return zones ? zones : mem_strdup(detail ? "any" : "-");
}

const char *node_zone(const struct cluster *cluster, const struct kube_object *node)
{
    CLEANUP(freep) char *key = mem_printf(ZONE_OF_DRIVER, cluster->view.driver_name);

    return node ? kube_label(node->metadata, key) : NULL;
}

static bool is_bound(const struct kube_object *pv)
{
    const Api__PersistentVolumeStatus *status = KUBE_AS(Api__PersistentVolume, pv)->status;

    return status && status->phase && strcmp(status->phase, "Bound") == 0;
}

const struct kube_object *pv_among(const struct object_list *pvs, const char *disk_id)
{
    const struct kube_object *found = NULL;

    for (size_t i = 0; disk_id && i < pvs->n; i++) {
        const char *handle = persistent_volume_handle(pvs->items[i]);

        if (handle && strcasecmp(handle, disk_id) == 0 &&
            (!found || (!is_bound(found) && is_bound(pvs->items[i]))))
            found = pvs->items[i];
    }
    return found;
}

const struct kube_object *pv_of_disk(const struct cluster *cluster, const char *disk_id)
{
    return pv_among(&cluster->view.persistent_volumes, disk_id);
}

char *claim_of_pv(const struct kube_object *pv)
{
    const Api__PersistentVolumeSpec *spec = pv ? KUBE_AS(Api__PersistentVolume, pv)->spec : NULL;
    const Api__ObjectReference *claim = spec ? spec->claim_ref : NULL;

    return claim && claim->name ? kube_key(claim->namespace_, claim->name) : NULL;
}

char *claim_of_disk(const struct cluster *cluster, const char *disk_id)
{
    return claim_of_pv(pv_of_disk(cluster, disk_id));
}

const char *volume_stage(const struct kube_object *volume)
{
    const char *state = volume_state(as_volume(volume));

    return kube_is_deleting(volume->metadata) ? "Deleting" : *state ? state : "Pending";
}

const char *attachment_role(const struct kube_object *attachment)
{
    return attachment_wants(as_attachment(attachment), ROLE_PRIMARY) ? ROLE_PRIMARY : ROLE_REPLICA;
}

const char *attachment_stage(const struct kube_object *attachment)
{
    static const struct {
        const char *state, *stage;
    } stages[] = {{STATE_ATTACHING, "attaching"},
                  {STATE_ATTACHMENT_FAILED, "failed"},
                  {STATE_DETACHING, "detaching"},
                  {STATE_DETACHED, "detaching"},
                  {STATE_DETACHMENT_FAILED, "failed"}};
    const char *state = attachment_state(as_attachment(attachment));

    for (size_t i = 0; i < COUNT_OF(stages); i++)
        if (strcmp(stages[i].state, state) == 0)
            return stages[i].stage;
    if (strcmp(state, STATE_ATTACHED) != 0)
        return "waiting";
    if (kube_is_deleting(attachment->metadata))
        return "detaching";
    if (attachment_wants(as_attachment(attachment), ROLE_PRIMARY) &&
        !attachment_is(as_attachment(attachment), ROLE_PRIMARY))
        return "promoting";
    if (attachment_wants(as_attachment(attachment), ROLE_REPLICA) &&
        attachment_is(as_attachment(attachment), ROLE_PRIMARY))
        return "demoting";
    return "attached";
}

static int by_name(const void *a, const void *b)
{
    const struct kube_object *const *one = a, *const *other = b;

    return strcmp((*one)->metadata->name, (*other)->metadata->name);
}

struct kube_object **objects_sorted(const struct object_list *list)
{
    struct kube_object **items = mem_alloc((list->n + 1) * sizeof(struct kube_object *));

    for (size_t i = 0; i < list->n; i++)
        items[i] = list->items[i];
    qsort(items, list->n, sizeof *items, by_name);
    return items;
}

struct kube_object *find_object(const struct object_list *list, const char *key)
{
    for (size_t i = 0; key && i < list->n; i++)
        if (strcmp(list->items[i]->key, key) == 0)
            return list->items[i];
    return NULL;
}

struct kube_object *find_by(const struct object_list *list, object_key_fn *key_of,
                            const char *value)
{
    for (size_t i = 0; value && i < list->n; i++) {
        const char *key = key_of(list->items[i]);

        if (key && strcasecmp(key, value) == 0)
            return list->items[i];
    }
    return NULL;
}

void find_volume(const struct cluster *cluster, const char *name,
                 const struct kube_object **ret_volume, const struct kube_object **ret_pv)
{
    const struct cluster_view *view = &cluster->view;
    const struct kube_object *volume = find_by(&view->volumes, key_name, name);
    const struct kube_object *pv = find_by(&view->persistent_volumes, key_name, name);

    if (pv && !volume)
        volume = find_by(&view->volumes, volume_disk_id, persistent_volume_handle(pv));
    if (volume && !pv)
        pv = pv_of_disk(cluster, volume_disk_id(volume));
    *ret_volume = volume;
    *ret_pv = pv;
}
