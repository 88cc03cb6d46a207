#include "azdiskctl/replica_request.h"

#include "azdiskctl/landing.h"
#include "lib/base/alloc.h"

static bool is_missing(const struct dependency_chain *chain, const char *node)
{
    return chain_is_ours(chain) &&
           (!chain->volume || !attachment_on(chain->cluster, chain->volume, node));
}

static struct err *check_volume(const struct kube_object *volume)
{
    const char *name = volume->metadata->name;
    const Api__AzVolume *message = as_volume(volume);

    if (!volume_is_created(message))
        return err_new(ERR_PRECONDITION, "volume %s has no disk on record", name);
    if (volume_replicas_requested(message) == 0)
        return err_new(ERR_PRECONDITION,
                       "volume %s has no replicas: its disk has one share (maxShares), or none are "
                       "wanted (maxMountReplicaCount in the spec of the AzVolume)",
                       name);
    if (volume_percent(message) < 100)
        return err_new(ERR_PRECONDITION,
                       "volume %s gets replicas when all data has been copied to its disk (%d %%)",
                       name, volume_percent(message));
    return NULL;
}

static struct err *check_slots(const struct cluster *cluster, const char *node, int needed)
{
    const struct kube_object *plugin = find_by(&cluster->view.driver_nodes, key_name, node);
    const Api__AzDriverNodeStatus *status =
        plugin ? KUBE_AS(Api__AzDriverNode, plugin)->status : NULL;
    const Api__AzDriverNodeSlots *slots = status ? status->slots : NULL;

    if (!slots || !slots->has_free || slots->free >= needed)
        return NULL;
    return err_new(ERR_PRECONDITION, "node %s has %d free disk slots, and %d replicas lack there",
                   node, slots->free, needed);
}

struct err *replica_request_check(const struct cluster *cluster,
                                  const struct dependency_chains *chains, const char *node)
{
    int needed = 0;

    for (size_t i = 0; i < chains->n; i++) {
        const struct dependency_chain *chain = &chains->items[i];

        if (!is_missing(chain, node))
            continue;
        if (!chain->volume)
            return err_new(ERR_PRECONDITION, "there is no AzVolume of PersistentVolume %s yet",
                           chain->pv->metadata->name);
        TRY(check_volume(chain->volume));
        needed++;
    }
    return check_slots(cluster, node, needed);
}

/* One that is there by now, or is still leaving, shows at the next look. */
static struct err *make_one(struct task *self, struct kube *kube, struct steps *steps,
                            const char *object_namespace, const struct kube_object *volume,
                            const char *node, int64_t until_us)
{
    CLEANUP(json_decrefp)
    json_t *json = attachment_asked_json(as_volume(volume), node, until_us);

    TRY(err_unless(kube_create(self, kube, &AZ_VOLUME_ATTACHMENTS, object_namespace, json, NULL),
                   ERR_EXISTS));
    steps_say(steps, "asked for a replica of volume %s on node %s", volume->metadata->name, node);
    return NULL;
}

struct err *replica_request_make(struct task *self, struct kube *kube, struct steps *steps,
                                 const char *object_namespace,
                                 const struct dependency_chains *chains, const char *node,
                                 int64_t until_us)
{
    for (size_t i = 0; i < chains->n; i++)
        if (is_missing(&chains->items[i], node))
            TRY(make_one(self, kube, steps, object_namespace, chains->items[i].volume, node,
                         until_us));
    return NULL;
}
