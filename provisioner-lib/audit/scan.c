#include "provisioner-lib/audit/scan.h"

#include <stdlib.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/kube/node.h"

/* Texts of any case, each once, in order. */
struct texts {
    char **items;
    size_t n;
};

static void texts_fini(struct texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free(texts->items[i]);
    free(texts->items);
}

static int compare(const void *a, const void *b)
{
    return strcasecmp(*(char *const *)a, *(char *const *)b);
}

static bool has(const struct texts *sorted, const char *text)
{
    return sorted->n &&
           bsearch(&text, sorted->items, sorted->n, sizeof *sorted->items, compare) != NULL;
}

/* ---- a machine ---- */

static struct err *machine_id(struct cloud *cloud, const struct kube_object *node, char **ret)
{
    return cloud->ops->instance_id(cloud, node->metadata->name,
                                   node_provider_id(KUBE_AS(Api__Node, node)), ret);
}

static struct err *look_at(struct task *self, struct cloud *cloud, const char *id,
                           struct cloud_instance *ret, bool *ret_found)
{
    struct err *err = cloud->ops->instance_look(self, cloud, id, ret);

    *ret_found = !err;
    if (!err || err_kind(err) != ERR_NOT_FOUND)
        return err;
    err_free(err);
    *ret = (struct cloud_instance){0};
    return NULL;
}

struct err *scan_machine(struct task *self, struct cloud *cloud, const struct kube_object *node,
                         struct cloud_instance *ret, bool *ret_found)
{
    CLEANUP(freep) char *id = NULL;

    TRY(machine_id(cloud, node, &id));
    return look_at(self, cloud, id, ret, ret_found);
}

/* ---- disks ---- */

static void visit_place(void *ctx, struct kube_object *volume)
{
    struct texts *places = ctx;
    const char *id = volume_disk_id(volume);
    bool known = !id;

    for (size_t i = 0; i < places->n && !known; i++)
        known = disk_is_beside(id, places->items[i]);
    if (!known)
        ARRAY_ADD(places->items, places->n) = mem_strdup(id);
}

/* A disk in each place, whether it exists or not: where the driver makes new ones, where they are.
 */
static struct err *find_places(struct task *self, struct cloud *cloud,
                               const struct cluster_source *source, struct texts *ret)
{
    static const struct volume_parameters plain;
    char *own = NULL;

    TRY(cloud->ops->disk_id(cloud, &(struct cloud_disk_spec){.name = "any", .parameters = &plain},
                            &own));
    ARRAY_ADD(ret->items, ret->n) = own;
    return source->ops->walk(self, source, VOLUMES_OF, visit_place, ret);
}

/* A place that is gone has no disks. One that may not be listed keeps no other from being looked
 * at: somebody may have allowed no more than the disks of the volumes. */
static struct err *list_place(struct task *self, struct cloud *cloud, const char *place,
                              struct disk_scan *ret)
{
    CLEANUP(err_freep) struct err *err = cloud->ops->disk_list(self, cloud, place, &ret->disks);

    if (err && err_kind(err) == ERR_DENIED)
        ARRAY_ADD(ret->unlisted, ret->n_unlisted) =
            (struct unlisted){mem_strdup(place), mem_strdup(err_message(err))};
    else if (err && err_kind(err) != ERR_NOT_FOUND)
        return TAKE_PTR(err);
    return NULL;
}

/* ---- their owners ---- */

struct machines {
    struct cloud *cloud;
    struct texts ids; /* of the nodes, and of what is on record; sorted */
};

static void machines_fini(struct machines *machines)
{
    texts_fini(&machines->ids);
}

/* A node whose machine has no id is of another cloud, and owns no disk of ours. */
static void visit_node(void *ctx, struct kube_object *node)
{
    struct machines *machines = ctx;
    char *id = NULL;
    CLEANUP(err_freep) struct err *err = machine_id(machines->cloud, node, &id);

    if (!err)
        ARRAY_ADD(machines->ids.items, machines->ids.n) = id;
}

/* Also where the Node is deleted: Kubernetes has yet to release what is there. */
static void visit_attachment(void *ctx, struct kube_object *attachment)
{
    struct machines *machines = ctx;
    const char *id = attachment_annotation(as_attachment(attachment), ANNOTATION_VM);

    if (id)
        ARRAY_ADD(machines->ids.items, machines->ids.n) = mem_strdup(id);
}

struct search {
    const struct machines *machines;
    struct disk_scan *scan;
};

static void visit_owners(void *ctx, struct kube_object *volume)
{
    const struct search *search = ctx;
    struct disk_scan *scan = search->scan;
    const char *id = volume_disk_id(volume);
    const struct cloud_disk *disk = id ? disk_scan_find(scan, id) : NULL;

    for (size_t i = 0; disk && i < disk->n_instances; i++) {
        const char *owner = disk->instances[i];

        if (!has(&search->machines->ids, owner) && !disk_scan_foreign_vm(scan, owner))
            ARRAY_ADD(scan->foreign_vms, scan->n_foreign_vms) =
                (struct foreign_vm){mem_strdup(owner), true};
    }
}

static struct err *find_foreign_vms(struct task *self, struct cloud *cloud,
                                    const struct cluster_source *source, struct disk_scan *scan)
{
    CLEANUP(machines_fini) struct machines machines = {.cloud = cloud};
    struct search search = {&machines, scan};

    TRY(source->ops->walk(self, source, NODES_OF, visit_node, &machines));
    TRY(source->ops->walk(self, source, ATTACHMENTS_OF, visit_attachment, &machines));
    if (machines.ids.n)
        qsort(machines.ids.items, machines.ids.n, sizeof *machines.ids.items, compare);
    return source->ops->walk(self, source, VOLUMES_OF, visit_owners, &search);
}

/* Of one that may not be looked at, the disk's word is good. */
static struct err *scan_foreign_vm(struct task *self, struct cloud *cloud,
                                   struct foreign_vm *foreign_vm)
{
    CLEANUP(cloud_instance_fini) struct cloud_instance machine = {0};
    struct err *err = look_at(self, cloud, foreign_vm->id, &machine, &foreign_vm->exists);

    if (!err || err_kind(err) != ERR_DENIED)
        return err;
    foreign_vm->exists = true;
    err_free(err);
    return NULL;
}

struct err *scan_disks(struct task *self, struct cloud *cloud, const struct cluster_source *source,
                       struct disk_scan *ret)
{
    CLEANUP(texts_fini) struct texts places = {0};

    TRY(find_places(self, cloud, source, &places));
    for (size_t i = 0; i < places.n; i++)
        TRY(list_place(self, cloud, places.items[i], ret));
    disk_scan_index(ret);
    TRY(find_foreign_vms(self, cloud, source, ret));
    for (size_t i = 0; i < ret->n_foreign_vms; i++)
        TRY(scan_foreign_vm(self, cloud, &ret->foreign_vms[i]));
    return NULL;
}
