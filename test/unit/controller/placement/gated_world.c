#include "test/unit/controller/placement/gated_world.h"

#include "controller/cache/indexes.h"
#include "controller/placement/reservations.h"
#include "controller/scheduling/node_info.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/json/parse.h"
#include "provisioner-lib/records/placement_gate.h"
#include "test/unit/object.h"

#define DRIVER "disk.csi.azure.com"
#define DISK "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/"

enum { LIMIT_MS = 120 * 1000 };

void gated_world_open(struct gated_world *world)
{
    *world = (struct gated_world){.c = {
                                      .loop = loop_new_virtual(0),
                                      .settings = {.driver_name = DRIVER, .namespace_ = "d"},
                                      .volumes = store_new(&AZ_VOLUMES),
                                      .attachments = store_new(&AZ_VOLUME_ATTACHMENTS),
                                      .snapshots = store_new(&AZ_SNAPSHOTS),
                                      .nodes = store_new(&NODES),
                                      .namespaces = store_new(&NAMESPACES),
                                      .pods = store_new(&PODS),
                                      .persistent_volumes = store_new(&PERSISTENT_VOLUMES),
                                      .volume_attachments = store_new(&VOLUME_ATTACHMENTS),
                                  }};
    world->leading.reserved_places = reservations_new();
    world->c.leading = &world->leading;
    world->c.node_infos = node_infos_new(world->c.loop, DRIVER, LIMIT_MS);
    indexes_add(&world->c);
}

void gated_world_close(struct gated_world *world)
{
    struct controller *c = &world->c;
    struct store *const stores[] = {
        c->volumes,    c->attachments, c->snapshots,          c->nodes,
        c->namespaces, c->pods,        c->persistent_volumes, c->volume_attachments};

    for (size_t i = 0; i < COUNT_OF(stores); i++)
        store_free(stores[i]);
    reservations_free(world->leading.reserved_places);
    node_infos_free(c->node_infos);
    loop_free(c->loop);
}

/* Whatever is put is newer than all before. */
static struct kube_object *put(struct store *store, const ProtobufCMessageDescriptor *type,
                               char *text)
{
    static unsigned version = 0;
    CLEANUP(freep) char *taken = text;
    CLEANUP(json_decrefp) json_t *json = json_of(taken);
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    json_object_set_new(json_object_get(json, "metadata"), "resourceVersion",
                        json_sprintf("%u", ++version));
    assert_ok(kube_object_decode(type, json, &object));
    store_put(store, object);
    return store_get(store, object->key);
}

static void put_node(struct gated_world *world, const char *name, const char *spec,
                     const char *ready)
{
    struct kube_object *object =
        put(world->c.nodes, &api__node__descriptor,
            mem_printf("{'metadata':{'name':'%s','labels':{'kubernetes.io/hostname':'%s'}},"
                       "'spec':{%s},'status':{'conditions':[{'type':'Ready','status':'%s'}]}}",
                       name, name, spec, ready));

    node_infos_node_changed(world->c.node_infos, NULL, object);
}

void gated_world_node(struct gated_world *world, const char *name, unsigned limit, const char *spec)
{
    char heard[TIMESTAMP_SIZE];

    put_node(world, name, spec, "True");
    timestamp_format_micro(loop_wall_us(world->c.loop), heard);
    CLEANUP(kube_object_unrefp)
    struct kube_object *plugin =
        object_taken(&api__az_driver_node__descriptor,
                     mem_printf("{'metadata':{'name':'%s','namespace':'d'},'status':{"
                                "'lastHeartbeatTime':'%s','readyForVolumeAllocation':true,"
                                "'slots':{'limit':%u}}}",
                                name, heard, limit));
    node_infos_plugin_changed(world->c.node_infos, NULL, plugin);
}

void gated_world_node_ready(struct gated_world *world, const char *name, const char *status)
{
    put_node(world, name, "", status);
}

void gated_world_volume(struct gated_world *world, const char *name, int mode)
{
    put(world->c.volumes, &api__az_volume__descriptor,
        mem_printf("{'metadata':{'name':'%s','namespace':'d'},'spec':{'volumeName':'%s',"
                   "'parameters':{'maxShares':'3'},'volumeCapability':[{'access_mode':%d}]},"
                   "'status':{'state':'Created','detail':{'volume_id':'" DISK "%s'}}}",
                   name, name, mode, name));
    put(world->c.persistent_volumes, &api__persistent_volume__descriptor,
        mem_printf("{'metadata':{'name':'%s'},'spec':{'claimRef':{'namespace':'shop',"
                   "'name':'%s'},'csi':{'driver':'" DRIVER "','volumeHandle':'" DISK "%s'}},"
                   "'status':{'phase':'Bound'}}",
                   name, name, name));
}

void gated_world_attachment(struct gated_world *world, const char *volume, const char *node,
                            const char *role, const char *state)
{
    CLEANUP(freep) char *key = mem_printf("d/%s-%s", volume, node);
    struct kube_object *known = store_get(world->c.attachments, key);
    CLEANUP(kube_object_unrefp) struct kube_object *before = known ? kube_object_ref(known) : NULL;
    struct kube_object *object =
        put(world->c.attachments, &api__az_volume_attachment__descriptor,
            mem_printf("{'metadata':{'name':'%s-%s','namespace':'d'},'spec':{'volumeName':'%s',"
                       "'volume_id':'" DISK "%s','nodeName':'%s','role':'%s'},"
                       "'status':{'state':'%s','detail':{'role':'%s'}}}",
                       volume, node, volume, volume, node, role, state, role));

    node_infos_attachment_changed(world->c.node_infos, before, object);
}

static char *volumes_text(const char *claims)
{
    CLEANUP(freep) char *names = mem_strdup(claims);
    char *text = mem_strdup(""), *position = NULL;
    unsigned n = 0;

    for (char *name = strtok_r(names, " ", &position); name;
         name = strtok_r(NULL, " ", &position)) {
        char *longer = mem_printf("%s%s{'name':'v%u','persistentVolumeClaim':{'claimName':'%s'}}",
                                  text, n ? "," : "", n, name);

        free(text);
        text = longer;
        n++;
    }
    return text;
}

static struct kube_object *put_pod(struct gated_world *world, const char *name, const char *claims,
                                   const char *where)
{
    CLEANUP(freep) char *volumes = volumes_text(claims);

    return put(world->c.pods, &api__pod__descriptor,
               mem_printf("{'metadata':{'name':'%s','namespace':'shop','uid':'%s',"
                          "'labels':{'app':'x'}},"
                          "'spec':{%s,'volumes':[%s]},'status':{'phase':'Pending'}}",
                          name, name, where, volumes));
}

struct kube_object *gated_world_pod(struct gated_world *world, const char *name, const char *claims,
                                    const char *node)
{
    CLEANUP(freep)
    char *where = node ? mem_printf("'nodeName':'%s'", node)
                       : mem_strdup("'schedulingGates':[{'name':'" PLACEMENT_GATE "'}]");

    return put_pod(world, name, claims, where);
}

struct kube_object *gated_world_held_pod(struct gated_world *world, const char *name,
                                         const char *claims)
{
    return put_pod(world, name, claims,
                   "'schedulingGates':[{'name':'example.com/quota'},{'name':'" PLACEMENT_GATE
                   "'}]");
}

void gated_world_remove_pod(struct gated_world *world, const char *name)
{
    CLEANUP(freep) char *key = mem_printf("shop/%s", name);

    store_remove(world->c.pods, store_get(world->c.pods, key));
}
