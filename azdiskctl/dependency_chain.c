#include "azdiskctl/dependency_chain.h"

#include <string.h>
#include <strings.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/kube/pod_claim.h"

/* ---- downwards, from each thing to what it stands on ---- */

static void find_node(struct dependency_chain *chain, const char *name)
{
    const struct cluster_view *view = &chain->cluster->view;

    chain->node_name = name;
    chain->node = find_by(&view->nodes, key_name, name);
    chain->plugin = find_by(&view->driver_nodes, key_name, name);
}

/* Through whichever PersistentVolume of the disk. */
static bool is_volume_attachment_of(const struct dependency_chain *chain,
                                    const struct kube_object *volume_attachment)
{
    const char *source = volume_attachment_source(volume_attachment);
    const struct kube_object *pv =
        source ? find_by(&chain->cluster->view.persistent_volumes, key_name, source) : NULL;
    const char *disk =
        pv ? persistent_volume_handle(pv) : volume_attachment_disk(volume_attachment);
    const char *wanted = persistent_volume_handle(chain->pv);

    return pv == chain->pv || (disk && wanted && strcasecmp(disk, wanted) == 0);
}

/* Of several the one that is not going. */
static void find_volume_attachment(struct dependency_chain *chain)
{
    const struct object_list *list = &chain->cluster->view.volume_attachments;

    for (size_t i = 0; chain->pv && i < list->n; i++) {
        if (is_volume_attachment_of(chain, list->items[i]) &&
            (!chain->volume_attachment || kube_is_deleting(chain->volume_attachment->metadata)))
            chain->volume_attachment = list->items[i];
    }
}

static bool is_of_volume(const struct dependency_chain *chain, const struct kube_object *attachment)
{
    const char *name = attachment_volume(attachment);

    return chain->volume && name && strcmp(name, chain->volume->metadata->name) == 0;
}

/* Once Kubernetes wants the volume on a node, only what is there counts. */
static int worth(const struct dependency_chain *chain, const struct kube_object *attachment)
{
    const char *node =
        chain->volume_attachment ? volume_attachment_node(chain->volume_attachment) : NULL;
    const char *here = attachment_node(attachment);

    if (node)
        return here && strcmp(node, here) == 0;
    return attachment_wants(as_attachment(attachment), ROLE_PRIMARY) ? 2 : 1;
}

static void find_attachment(struct dependency_chain *chain)
{
    const struct object_list *list = &chain->cluster->view.attachments;
    int best = 0;

    for (size_t i = 0; i < list->n; i++)
        if (is_of_volume(chain, list->items[i]) && worth(chain, list->items[i]) > best) {
            chain->attachment = list->items[i];
            best = worth(chain, list->items[i]);
        }
}

static void find_rival(struct dependency_chain *chain)
{
    const struct object_list *list = &chain->cluster->view.attachments;

    if (!chain->volume || volume_is_multi_node(as_volume(chain->volume)))
        return;
    for (size_t i = 0; i < list->n; i++) {
        const char *node = attachment_node(list->items[i]);

        if (is_of_volume(chain, list->items[i]) &&
            attachment_is(as_attachment(list->items[i]), ROLE_PRIMARY) && node &&
            chain->node_name && strcmp(node, chain->node_name) != 0)
            chain->rival = list->items[i];
    }
}

static void find_below_volume(struct dependency_chain *chain)
{
    const char *node = NULL;

    if (!chain->volume_attachment)
        find_volume_attachment(chain);
    if (!chain->attachment)
        find_attachment(chain);
    if (chain->volume_attachment)
        node = volume_attachment_node(chain->volume_attachment);
    else if (chain->attachment)
        node = attachment_node(chain->attachment);
    if (node)
        find_node(chain, node);
    find_rival(chain);
}

/* ---- upwards, from a disk to who wants it ---- */

static void find_claim(struct dependency_chain *chain)
{
    CLEANUP(freep)
    char *key = claim_of_disk(chain->cluster, persistent_volume_handle(chain->pv));

    if (!chain->claim)
        chain->claim = find_object(&chain->cluster->claims, key);
}

static void begin_at_volume(struct dependency_chain *chain, const struct kube_object *volume)
{
    chain->volume = volume;
    chain->pv = pv_of_disk(chain->cluster, volume_disk_id(volume));
    if (chain->pv)
        find_claim(chain);
    find_below_volume(chain);
}

static void begin_at_pv(struct dependency_chain *chain, const struct kube_object *pv)
{
    chain->pv = pv;
    chain->volume =
        find_by(&chain->cluster->view.volumes, volume_disk_id, persistent_volume_handle(pv));
    /* One whose disk is not made yet. */
    if (!chain->volume)
        chain->volume = find_by(&chain->cluster->view.volumes, key_name, pv->metadata->name);
    find_claim(chain);
    find_below_volume(chain);
}

/* The AzVolume of a claim that is not bound has the name that the volume will have. */
static void begin_at_claim(struct dependency_chain *chain, const struct kube_object *claim)
{
    const Api__PersistentVolumeClaimSpec *spec = KUBE_AS(Api__PersistentVolumeClaim, claim)->spec;
    const struct cluster_view *view = &chain->cluster->view;
    const struct kube_object *pv =
        find_by(&view->persistent_volumes, key_name, spec ? spec->volume_name : NULL);

    chain->claim = claim;
    if (pv) {
        begin_at_pv(chain, pv);
        return;
    }
    CLEANUP(freep)
    char *name = mem_printf("pvc-%s", claim->metadata->uid ? claim->metadata->uid : "");
    chain->volume = find_by(&view->volumes, key_name, name);
    find_below_volume(chain);
}

static void begin_at_attachment(struct dependency_chain *chain,
                                const struct kube_object *attachment)
{
    chain->attachment = attachment;
    const struct kube_object *volume =
        find_by(&chain->cluster->view.volumes, key_name, attachment_volume(attachment));

    if (volume)
        begin_at_volume(chain, volume);
    chain->attachment = attachment;
    find_node(chain, attachment_node(attachment));
}

static void begin_at_node(struct dependency_chain *chain, const struct kube_object *node)
{
    find_node(chain, node->metadata->name);
}

/* ---- subjects ---- */

static struct dependency_chain *add_chain(struct dependency_chains *chains,
                                          const struct cluster *cluster)
{
    ARRAY_ADD(chains->items, chains->n) = (struct dependency_chain){.cluster = cluster};
    return &chains->items[chains->n - 1];
}

void dependency_chains_of_pod(const struct cluster *cluster, const struct kube_object *pod,
                              struct dependency_chains *ret)
{
    const Api__PodSpec *spec = KUBE_AS(Api__Pod, pod)->spec;

    for (size_t i = 0; spec && i < spec->n_volumes; i++) {
        CLEANUP(freep) char *key = pod_claim_key(KUBE_AS(Api__Pod, pod), spec->volumes[i]);
        const struct kube_object *claim = find_object(&cluster->claims, key);

        if (!claim)
            continue;
        struct dependency_chain *chain = add_chain(ret, cluster);
        begin_at_claim(chain, claim);
        chain->pod = pod;
    }
    if (!ret->n)
        add_chain(ret, cluster)->pod = pod;
}

struct subject_kind {
    const char *names[4]; /* NULL at the end */
    const struct api_resource *resource;
    bool namespaced; /* by the namespace that the person gives */
    size_t list;     /* offset of the object_list in struct cluster */
    void (*begin)(struct dependency_chain *chain,
                  const struct kube_object *object); /* NULL: a pod */
};

#define LIST(member) offsetof(struct cluster, member)

static const struct subject_kind subject_kinds[] = {
    {{"pod", "po"}, &PODS, true, LIST(pods), NULL},
    {{"pvc", "persistentvolumeclaim", "claim"},
     &PERSISTENT_VOLUME_CLAIMS,
     true,
     LIST(claims),
     begin_at_claim},
    {{"pv", "persistentvolume"},
     &PERSISTENT_VOLUMES,
     false,
     LIST(view.persistent_volumes),
     begin_at_pv},
    {{"azvolume", "volume"}, &AZ_VOLUMES, false, LIST(view.volumes), begin_at_volume},
    {{"azvolumeattachment", "attachment"},
     &AZ_VOLUME_ATTACHMENTS,
     false,
     LIST(view.attachments),
     begin_at_attachment},
    {{"node", "azdrivernode"}, &NODES, false, LIST(view.nodes), begin_at_node},
};

bool dependency_chain_kind(size_t i, struct named_kind *ret)
{
    if (i >= COUNT_OF(subject_kinds))
        return false;
    *ret =
        (struct named_kind){.words = subject_kinds[i].names, .resource = subject_kinds[i].resource};
    return true;
}

static const struct subject_kind *find_kind(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(subject_kinds); i++)
        for (size_t j = 0; j < COUNT_OF(subject_kinds[i].names); j++) {
            const char *known = subject_kinds[i].names[j];

            if (known && strlen(known) == length && strncasecmp(known, name, length) == 0)
                return &subject_kinds[i];
        }
    return NULL;
}

struct err *dependency_chains_find(const struct cluster *cluster, const char *subject,
                                   const char *namespace_, struct dependency_chains *ret)
{
    const char *slash = strchr(subject, '/');
    const struct subject_kind *kind = slash ? find_kind(subject, (size_t)(slash - subject)) : NULL;

    if (!kind || !slash[1])
        return err_new(ERR_INVALID,
                       "\"%s\" is not of the form KIND/NAME, where KIND is pod, pvc, pv, azvolume, "
                       "azvolumeattachment or node",
                       subject);
    const struct object_list *list =
        (const struct object_list *)(const void *)((const char *)cluster + kind->list);
    CLEANUP(freep) char *key = kube_key(namespace_, slash + 1);
    const struct kube_object *object =
        kind->namespaced ? find_object(list, key) : find_by(list, key_name, slash + 1);
    if (!object)
        return err_new(ERR_NOT_FOUND, "%s %s does not exist", kind->names[0],
                       kind->namespaced ? key : slash + 1);
    if (kind->begin)
        kind->begin(add_chain(ret, cluster), object);
    else
        dependency_chains_of_pod(cluster, object, ret);
    return NULL;
}

void dependency_chains_fini(struct dependency_chains *chains)
{
    free(chains->items);
    *chains = (struct dependency_chains){0};
}
