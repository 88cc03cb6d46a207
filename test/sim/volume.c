#include "test/sim/volume.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/disk_sku.h"
#include "provisioner-lib/host/identity.h"
#include "test/azsim/model/resource.h"
#include "test/sim/provisioner.h"
#include "test/sim/resizer.h"
#include "test/sim/static_volume.h"
#include "test/sim/world.h"

#define ZONE_LABEL "topology.disk.csi.azure.com/zone"

/* ---- the objects ---- */

static const char *access_mode(const struct volume *volume)
{
    return volume->wish.block ? "ReadWriteMany" : "ReadWriteOnce";
}

static json_t *storage_json(int64_t gib)
{
    return json_pack("{s:o}", "storage", json_sprintf("%lldGi", (long long)gib));
}

static json_t *claim_json(const struct volume *volume)
{
    return json_pack("{s:{s:s, s:[s]}, s:{s:[s], s:s, s:s, s:{s:o}}}", "metadata", "name",
                     volume->claim, "finalizers", "kubernetes.io/pvc-protection", "spec",
                     "accessModes", access_mode(volume), "storageClassName", "azuredisk",
                     "volumeMode", volume->wish.block ? "Block" : "Filesystem", "resources",
                     "requests", storage_json(volume->gib));
}

static json_t *affinity_json(const struct volume *volume)
{
    json_t *terms = json_array();

    for (unsigned zone = 0; zone < WORLD_ZONES; zone++)
        if (volume->zones & 1U << zone) {
            CLEANUP(freep) char *value = mem_printf("eastus-%u", zone + 1);

            json_array_append_new(terms,
                                  json_pack("{s:[{s:s, s:s, s:[s]}]}", "matchExpressions", "key",
                                            ZONE_LABEL, "operator", "In", "values", value));
        }
    return json_pack("{s:{s:o}}", "required", "nodeSelectorTerms", terms);
}

static json_t *csi_json(const struct volume *volume)
{
    return json_pack("{s:s, s:s, s:s, s:O}", "driver", WORLD_DRIVER, "volumeHandle", volume->handle,
                     "fsType", volume->wish.block ? "" : "ext4", "volumeAttributes",
                     volume->context);
}

static json_t *in_tree_json(const struct volume *volume)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "diskName", volume_disk_name(volume), "diskURI",
                     volume->handle, "kind", "Managed", "cachingMode", "None", "fsType", "ext4");
}

static json_t *spec_json(const struct volume *volume)
{
    const json_t *claim = kube_server_get(volume->world->sim->kube, &PERSISTENT_VOLUME_CLAIMS,
                                          WORLD_POD_NAMESPACE, volume->claim);
    json_t *uid = json_object_get(json_object_get(claim, "metadata"), "uid");
    bool in_tree = volume->wish.origin == VOLUME_IN_TREE;

    return json_pack(
        "{s:o, s:[s], s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s, s:O?}, s:o, s:o}", "capacity",
        storage_json(volume->gib), "accessModes", access_mode(volume), "volumeMode",
        volume->wish.block ? "Block" : "Filesystem", "persistentVolumeReclaimPolicy",
        volume->wish.retain || volume->wish.origin == VOLUME_STATIC ? "Retain" : "Delete",
        "storageClassName", "azuredisk", "claimRef", "apiVersion", "v1", "kind",
        "PersistentVolumeClaim", "namespace", WORLD_POD_NAMESPACE, "name", volume->claim, "uid",
        uid, in_tree ? "azureDisk" : "csi", in_tree ? in_tree_json(volume) : csi_json(volume),
        "nodeAffinity", affinity_json(volume));
}

static json_t *pv_json(const struct volume *volume, const char *name)
{
    static const char *const provisioned_by[] = {[VOLUME_DYNAMIC] = WORLD_DRIVER,
                                                 [VOLUME_IN_TREE] = "kubernetes.io/azure-disk",
                                                 [VOLUME_STATIC] = NULL};
    const char *by = provisioned_by[volume->wish.origin];
    json_t *metadata =
        json_pack("{s:s, s:[s]}", "name", name, "finalizers", "kubernetes.io/pv-protection");

    if (by) {
        json_object_set_new(metadata, "annotations",
                            json_pack("{s:s}", "pv.kubernetes.io/provisioned-by", by));
        json_array_append_new(json_object_get(metadata, "finalizers"),
                              json_string("external-provisioner.volume.kubernetes.io/finalizer"));
    }
    return json_pack("{s:o, s:o}", "metadata", metadata, "spec", spec_json(volume));
}

static void write_pv_phase(const struct volume *volume, const char *pv, const char *phase)
{
    world_patch(volume->world, &PERSISTENT_VOLUMES, NULL, pv, "status",
                json_pack("{s:{s:s}}", "status", "phase", phase));
}

static void create_pv(const struct volume *volume, const char *name, const char *phase)
{
    world_create(volume->world, &PERSISTENT_VOLUMES, NULL, pv_json(volume, name));
    write_pv_phase(volume, name, phase);
}

static void remove_finalizers(struct world *world, const struct api_resource *resource,
                              const char *namespace_, const char *name)
{
    world_patch(world, resource, namespace_, name, NULL,
                json_pack("{s:{s:[]}}", "metadata", "finalizers"));
}

/* ---- its life ---- */

struct volume *volume_new(struct world *world, const char *claim, const struct volume_wish *wish)
{
    struct volume *volume = mem_alloc(sizeof *volume);
    char uid[UUID_SIZE];

    random_uuid(loop_random(world->sim->loop), uid);
    *volume = (struct volume){
        .world = world,
        .claim = mem_strdup(claim),
        .pv = wish->taken ? mem_printf("of-%s", claim) : mem_printf("pvc-%s", uid),
        .wish = *wish,
        .chosen_zone = -1,
        .gib = wish->gib ? wish->gib : VOLUME_GIB,
    };
    volume->wanted_gib = volume->gib;
    waiters_init(&volume->changed);
    list_append(&world->volumes, &volume->link);
    world_create(world, &PERSISTENT_VOLUME_CLAIMS, WORLD_POD_NAMESPACE, claim_json(volume));
    if (wish->origin == VOLUME_DYNAMIC)
        provisioner_start(volume);
    else
        static_volume_start(volume);
    return volume;
}

/* What CreateVolume has answered. */
static void forget_answer(struct volume *volume)
{
    free(TAKE_PTR(volume->handle));
    free(TAKE_PTR(volume->disk));
    json_decref(TAKE_PTR(volume->context));
}

void volume_free(struct volume *volume)
{
    free(volume->claim);
    free(volume->pv);
    free(volume->old_pv);
    forget_answer(volume);
    free(volume->error);
    free(volume->resize_error);
    free(volume->modify_error);
    free(volume->taken_by);
    free(volume);
}

void volume_bind(struct volume *volume, const char *handle, json_t *context, unsigned zones)
{
    forget_answer(volume);
    volume->handle = mem_strdup(handle);
    volume->disk = resource_key(handle);
    identity_derive(handle, volume->filesystem);
    volume->context = context;
    volume->zones = zones ? zones : (1U << WORLD_ZONES) - 1;
    volume->phase = VOLUME_BOUND;
    if (volume->wish.old_pv) {
        volume->old_pv = mem_printf("a-%s", volume->pv);
        create_pv(volume, volume->old_pv, "Released");
    }
    create_pv(volume, volume->pv, "Bound");
    world_patch(volume->world, &PERSISTENT_VOLUME_CLAIMS, WORLD_POD_NAMESPACE, volume->claim, NULL,
                json_pack("{s:{s:s}}", "spec", "volumeName", volume->pv));
    world_patch(volume->world, &PERSISTENT_VOLUME_CLAIMS, WORLD_POD_NAMESPACE, volume->claim,
                "status", json_pack("{s:{s:s}}", "status", "phase", "Bound"));
    waiters_wake(&volume->changed);
    waiters_wake(&volume->world->pods_changed);
    resizer_start(volume);
}

void volume_unbind(struct volume *volume)
{
    volume->phase = VOLUME_PENDING;
    volume_remove_pv(volume);
    world_patch(volume->world, &PERSISTENT_VOLUME_CLAIMS, WORLD_POD_NAMESPACE, volume->claim, NULL,
                json_pack("{s:{s:n}}", "spec", "volumeName"));
    world_patch(volume->world, &PERSISTENT_VOLUME_CLAIMS, WORLD_POD_NAMESPACE, volume->claim,
                "status", json_pack("{s:{s:s}}", "status", "phase", "Pending"));
    waiters_wake(&volume->changed);
}

void volume_request(struct volume *volume, int64_t gib)
{
    sim_note(volume->world->sim, "claim %s (%s) asks for %lld GiB, and has %lld", volume->claim,
             volume->pv, (long long)gib, (long long)volume->gib);
    volume->wanted_gib = gib;
    world_patch(volume->world, &PERSISTENT_VOLUME_CLAIMS, WORLD_POD_NAMESPACE, volume->claim, NULL,
                json_pack("{s:{s:{s:o}}}", "spec", "resources", "requests", storage_json(gib)));
    waiters_wake(&volume->changed);
}

unsigned sku_bit(const char *sku)
{
    for (unsigned i = 0; DISK_SKU_NAMES[i]; i++)
        if (strcmp(DISK_SKU_NAMES[i], sku) == 0)
            return 1U << i;
    return 0;
}

void volume_request_sku(struct volume *volume, const char *sku)
{
    sim_note(volume->world->sim, "claim %s (%s) is to be on a %s disk", volume->claim, volume->pv,
             sku);
    volume->wanted_sku = sku;
    volume->asked_skus |= sku_bit(sku);
    waiters_wake(&volume->changed);
}

void volume_resize(struct volume *volume, int64_t gib)
{
    volume->gib = gib;
    world_patch(volume->world, &PERSISTENT_VOLUMES, NULL, volume->pv, NULL,
                json_pack("{s:{s:o}}", "spec", "capacity", storage_json(gib)));
    world_patch(volume->world, &PERSISTENT_VOLUME_CLAIMS, WORLD_POD_NAMESPACE, volume->claim,
                "status", json_pack("{s:{s:o}}", "status", "capacity", storage_json(gib)));
}

void volume_delete(struct volume *volume)
{
    if (volume->delete_wanted)
        return;
    sim_note(volume->world->sim, "claim %s (%s) is deleted", volume->claim, volume->pv);
    volume->delete_wanted = true;
    world_delete(volume->world, &PERSISTENT_VOLUME_CLAIMS, WORLD_POD_NAMESPACE, volume->claim);
    waiters_wake(&volume->changed);
}

void volume_remove_claim(struct volume *volume)
{
    remove_finalizers(volume->world, &PERSISTENT_VOLUME_CLAIMS, WORLD_POD_NAMESPACE, volume->claim);
    if (volume->phase != VOLUME_BOUND)
        return;
    volume->phase = VOLUME_RELEASED;
    write_pv_phase(volume, volume->pv, "Released");
}

void volume_remove_pv(struct volume *volume)
{
    const char *const pvs[] = {volume->pv, volume->old_pv};

    for (size_t i = 0; i < COUNT_OF(pvs); i++)
        if (pvs[i]) {
            world_delete(volume->world, &PERSISTENT_VOLUMES, NULL, pvs[i]);
            remove_finalizers(volume->world, &PERSISTENT_VOLUMES, NULL, pvs[i]);
        }
    free(TAKE_PTR(volume->old_pv));
}

const char *volume_any_pv(const struct volume *volume)
{
    return volume->old_pv && world_draw(volume->world, 0, 1) ? volume->old_pv : volume->pv;
}

/* ---- questions ---- */

unsigned volume_shares(const struct volume *volume)
{
    return volume->by_hand_shares ? volume->by_hand_shares : volume->wish.max_shares;
}

bool volume_is_used(const struct volume *volume)
{
    LIST_FOREACH(&volume->world->pods, link) {
        if (pod_uses(POD_OF(link), volume))
            return true;
    }
    return false;
}

const char *volume_disk_name(const struct volume *volume)
{
    return strrchr(volume->handle, '/') + 1;
}

struct volume *volume_find_by_handle(const struct world *world, const char *handle)
{
    LIST_FOREACH(&world->volumes, link) {
        struct volume *volume = VOLUME_OF(link);

        if (volume->handle && strcasecmp(volume->handle, handle) == 0)
            return volume;
    }
    return NULL;
}

bool volume_is_settled(const struct volume *volume)
{
    if (!volume->delete_wanted) /* what no pod has asked for yet needs no disk */
        return volume->phase == VOLUME_BOUND || (!volume->asked && !volume_is_used(volume));
    return volume->phase == (volume->wish.retain && volume->handle ? VOLUME_RELEASED : VOLUME_GONE);
}
