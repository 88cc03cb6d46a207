/* In a thousand random clusters no replica is put where its pods may not run, where the disk cannot
 * be attached, or beside another attachment of its volume; and every node that will do is used
 * before a replica is left out. A cluster is a few numbers: the objects that the controller sees
 * are written from them, and what is right is judged by them alone. */
#include "controller/replica/snapshot.h"

#include "controller/cache/colocation.h"
#include "controller/cache/indexes.h"
#include "controller/scheduling/interpod_affinity.h"
#include "controller/scheduling/node_info.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/json/parse.h"
#include "test/unit/object.h"

#define DRIVER "disk.csi.azure.com"
#define DISK "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/"
#define ZONE_LABEL "topology.disk.csi.azure.com/zone"

enum { PLACEMENTS = 1000, MAX_NODES = 8, MAX_VOLUMES = 2, MAX_PODS = 2, LIMIT_MS = 60 * 1000 };

/* ---- the numbers ---- */

enum taint {
    UNTAINTED,
    GPU_NO_SCHEDULE,
    GPU_NO_EXECUTE,
    GPU_PREFER_NOT,
    OTHER_NO_SCHEDULE,
    TAINTS
};
static const char *const taint_texts[] = {
    "",
    "{'key':'gpu','value':'yes','effect':'NoSchedule'}",
    "{'key':'gpu','value':'yes','effect':'NoExecute'}",
    "{'key':'gpu','value':'yes','effect':'PreferNoSchedule'}",
    "{'key':'other','effect':'NoSchedule'}",
};

enum tolerance { NO_TAINT, GPU_TAINTS, GPU_SCHEDULING, ALL_TAINTS, TOLERANCES };
static const char *const toleration_texts[] = {
    "",
    "{'key':'gpu','operator':'Exists'}",
    "{'key':'gpu','operator':'Equal','value':'yes','effect':'NoSchedule'}",
    "{'operator':'Exists'}",
};
static const bool tolerates[TOLERANCES][TAINTS] = {
    [NO_TAINT] = {true, false, false, true, false},
    [GPU_TAINTS] = {true, true, true, true, false},
    [GPU_SCHEDULING] = {true, true, false, true, false},
    [ALL_TAINTS] = {true, true, true, true, true},
};

enum wish { ANY_NODE, BY_SELECTOR, BY_AFFINITY, WISHES };

struct node {
    int zone, colour;
    enum taint taint;
    bool cordoned, ready, silent;
    unsigned limit; /* data disks */
    unsigned used;  /* the volume that kubelet has there still; MAX_VOLUMES: none */
};

struct pod {
    enum tolerance tolerance;
    enum wish wish;
    int colour; /* of the nodes that it wishes */
};

enum presence { ABSENT, PRIMARY, REPLICA, LEAVING };

struct volume {
    int zone;    /* 0: it has none */
    bool affine; /* its PersistentVolume says so as well */
    unsigned shares;
    int colour; /* of the nodes that its replicaNodeSelector allows; -1: it has none */
    enum presence on[MAX_NODES];
};

/* Pods of one node that share their volumes. */
struct cluster {
    struct node nodes[MAX_NODES];
    struct pod pods[MAX_PODS];
    struct volume volumes[MAX_VOLUMES];
    unsigned n_nodes, n_pods, n_volumes, home;
};

static unsigned below(unsigned *seed, unsigned n)
{
    return (unsigned)rand_r(seed) % n;
}

static void fill_volume(const struct cluster *cluster, struct volume *volume, unsigned *seed)
{
    volume->zone = below(seed, 3) ? cluster->nodes[cluster->home].zone : 0;
    volume->affine = below(seed, 2);
    volume->shares = 2 + below(seed, 3);
    volume->colour = below(seed, 8) ? -1 : (int)below(seed, 2);
    for (unsigned i = 0; i < cluster->n_nodes; i++)
        volume->on[i] = below(seed, 4) ? ABSENT : below(seed, 3) ? REPLICA : LEAVING;
    volume->on[cluster->home] = PRIMARY;
}

static void fill(struct cluster *cluster, unsigned seed)
{
    *cluster = (struct cluster){.n_nodes = 2 + below(&seed, MAX_NODES - 1),
                                .n_pods = 1 + below(&seed, MAX_PODS),
                                .n_volumes = 1 + below(&seed, MAX_VOLUMES)};
    for (unsigned i = 0; i < cluster->n_nodes; i++)
        cluster->nodes[i] = (struct node){
            .zone = 1 + (int)below(&seed, 2),
            .colour = (int)below(&seed, 2),
            .taint = below(&seed, 2) ? below(&seed, TAINTS) : UNTAINTED,
            .cordoned = below(&seed, 8) == 0,
            .ready = below(&seed, 8) != 0,
            .silent = below(&seed, 8) == 0,
            .limit = below(&seed, 5),
            .used = below(&seed, 8) ? MAX_VOLUMES : below(&seed, MAX_VOLUMES),
        };
    cluster->home = below(&seed, cluster->n_nodes);
    for (unsigned i = 0; i < cluster->n_pods; i++)
        cluster->pods[i] = (struct pod){below(&seed, TOLERANCES), below(&seed, WISHES),
                                        cluster->nodes[cluster->home].colour};
    for (unsigned i = 0; i < cluster->n_volumes; i++)
        fill_volume(cluster, &cluster->volumes[i], &seed);
}

/* ---- what is right ---- */

static bool pods_may_run_on(const struct cluster *cluster, unsigned node)
{
    const struct node *n = &cluster->nodes[node];
    bool may = true;

    for (unsigned i = 0; i < cluster->n_pods; i++) {
        const struct pod *pod = &cluster->pods[i];

        may &= tolerates[pod->tolerance][n->taint];
        may &= pod->wish == ANY_NODE || pod->colour == n->colour;
        may &= !n->cordoned || pod->tolerance == ALL_TAINTS;
    }
    for (unsigned v = 0; v < cluster->n_volumes; v++)
        may &= !cluster->volumes[v].affine || !cluster->volumes[v].zone ||
               cluster->volumes[v].zone == n->zone;
    return may;
}

static bool volumes_allow(const struct cluster *cluster, unsigned node)
{
    bool allow = true;

    for (unsigned v = 0; v < cluster->n_volumes; v++)
        allow &= cluster->volumes[v].colour < 0 ||
                 cluster->volumes[v].colour == cluster->nodes[node].colour;
    return allow;
}

static bool may_take(const struct cluster *cluster, const struct volume *volume, unsigned node)
{
    const struct node *n = &cluster->nodes[node];
    bool well = n->ready && !n->silent && n->used >= cluster->n_volumes, stays = !n->silent;

    if (volume->on[node] == PRIMARY || volume->on[node] == LEAVING)
        return false;
    if (volume->zone && volume->zone != n->zone)
        return false;
    return pods_may_run_on(cluster, node) && volumes_allow(cluster, node) &&
           (volume->on[node] == REPLICA ? stays : well);
}

static unsigned slots_left(const struct cluster *cluster, unsigned node)
{
    unsigned taken = 0;

    for (unsigned v = 0; v < cluster->n_volumes; v++)
        taken += cluster->volumes[v].on[node] != ABSENT;
    return cluster->nodes[node].limit > taken ? cluster->nodes[node].limit - taken : 0;
}

/* ---- the objects ---- */

static void put(struct store *store, const ProtobufCMessageDescriptor *type, char *text)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = object_taken(type, text);

    store_put(store, object);
}

static struct kube_object *plugin_of(const struct controller *c, const char *node, unsigned limit,
                                     uint64_t silent_ms)
{
    char heard[TIMESTAMP_SIZE];

    timestamp_format_micro(loop_wall_us(c->loop) - (int64_t)silent_ms * 1000, heard);
    return object_taken(&api__az_driver_node__descriptor,
                        mem_printf("{'metadata':{'name':'%s','namespace':'d'},'status':{"
                                   "'lastHeartbeatTime':'%s','readyForVolumeAllocation':true,"
                                   "'slots':{'limit':%u}}}",
                                   node, heard, limit));
}

/* For as long as a process must have, for a silence to count: to a node that goes again. */
static void listen(struct controller *c)
{
    CLEANUP(kube_object_unrefp) struct kube_object *last = NULL;

    for (unsigned i = 0; i < 4; i++) {
        kube_object_unref(last);
        last = plugin_of(c, "elsewhere", 0, 0);
        node_infos_plugin_changed(c->node_infos, NULL, last);
        loop_skip(c->loop, LIMIT_MS / 4);
    }
    node_infos_plugin_changed(c->node_infos, last, NULL);
}

static void put_node(struct controller *c, unsigned i, const struct node *node)
{
    CLEANUP(freep)
    char *used = node->used < MAX_VOLUMES
                     ? mem_printf("'kubernetes.io/csi/" DRIVER "^" DISK "v%u'", node->used)
                     : mem_strdup("");
    CLEANUP(kube_object_unrefp)
    struct kube_object *object =
        object_taken(&api__node__descriptor,
                     mem_printf("{'metadata':{'name':'n%u','labels':{'" ZONE_LABEL
                                "':'eastus-%d','colour':'%d'}},"
                                "'spec':{'unschedulable':%s,'taints':[%s]},"
                                "'status':{'conditions':[{'type':'Ready','status':'%s'}],"
                                "'volumesInUse':[%s]}}",
                                i, node->zone, node->colour, node->cordoned ? "true" : "false",
                                taint_texts[node->taint], node->ready ? "True" : "False", used));

    store_put(c->nodes, object);
    node_infos_node_changed(c->node_infos, NULL, object);
    CLEANUP(kube_object_unrefp)
    struct kube_object *plugin =
        plugin_of(c, object->metadata->name, node->limit, node->silent ? 2 * LIMIT_MS : 0);
    node_infos_plugin_changed(c->node_infos, NULL, plugin);
}

static void put_attachment(struct controller *c, unsigned volume, unsigned node,
                           enum presence presence)
{
    const char *role = presence == PRIMARY ? "Primary" : "Replica";
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = object_taken(
        &api__az_volume_attachment__descriptor,
        mem_printf("{'metadata':{'name':'v%u-n%u-attachment','namespace':'d'%s},"
                   "'spec':{'volumeName':'v%u','nodeName':'n%u','role':'%s'},"
                   "'status':{'state':'Attached','detail':{'role':'%s'}}}",
                   volume, node,
                   presence == LEAVING ? ",'deletionTimestamp':'2026-01-01T00:00:00Z'" : "", volume,
                   node, role, role));

    store_put(c->attachments, object);
    node_infos_attachment_changed(c->node_infos, NULL, object);
}

static void put_volume(struct controller *c, unsigned i, const struct volume *volume)
{
    CLEANUP(freep)
    char *zone = volume->zone ? mem_printf("eastus-%d", volume->zone) : mem_strdup("");
    CLEANUP(freep)
    char *affinity =
        volume->zone && volume->affine
            ? mem_printf(",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':["
                         "{'key':'" ZONE_LABEL "','operator':'In','values':['%s']}]}]}}",
                         zone)
            : mem_strdup("");
    CLEANUP(freep)
    char *selector = volume->colour < 0
                         ? mem_strdup("")
                         : mem_printf(",'replicaNodeSelector':'colour=%d'", volume->colour);

    put(c->volumes, &api__az_volume__descriptor,
        mem_printf("{'metadata':{'name':'v%u','namespace':'d'},'spec':{'volumeName':'v%u',"
                   "'maxMountReplicaCount':%u,'parameters':{'maxShares':'%u'%s},"
                   "'volumeCapability':[{'access_mode':1}]},'status':{'detail':{"
                   "'volume_id':'" DISK "v%u','accessible_topology':[{'segments':{"
                   "'" ZONE_LABEL "':'%s'}}]}}}",
                   i, i, volume->shares - 1, volume->shares, selector, i, zone));
    put(c->persistent_volumes, &api__persistent_volume__descriptor,
        mem_printf("{'metadata':{'name':'pv%u'},'spec':{'claimRef':{'namespace':'n','name':'c%u'},"
                   "'csi':{'driver':'" DRIVER "','volumeHandle':'" DISK "v%u'}%s},"
                   "'status':{'phase':'Bound'}}",
                   i, i, i, affinity));
    for (unsigned node = 0; node < MAX_NODES; node++)
        if (volume->on[node] != ABSENT)
            put_attachment(c, i, node, volume->on[node]);
}

static char *wish_text(const struct pod *pod)
{
    switch (pod->wish) {
    case BY_SELECTOR:
        return mem_printf(",'nodeSelector':{'colour':'%d'}", pod->colour);
    case BY_AFFINITY:
        return mem_printf(
            ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
            "'nodeSelectorTerms':[{'matchExpressions':[{'key':'colour','operator':'NotIn',"
            "'values':['%d']}]}]}}}",
            !pod->colour);
    default:
        return mem_strdup("");
    }
}

static void put_pod(struct controller *c, const struct cluster *cluster, unsigned i)
{
    static const char *const claims[] = {
        "{'name':'v0','persistentVolumeClaim':{'claimName':'c0'}}",
        "{'name':'v0','persistentVolumeClaim':{'claimName':'c0'}},"
        "{'name':'v1','persistentVolumeClaim':{'claimName':'c1'}}",
    };
    CLEANUP(freep) char *wish = wish_text(&cluster->pods[i]);

    put(c->pods, &api__pod__descriptor,
        mem_printf("{'metadata':{'name':'p%u','namespace':'n'},'spec':{'nodeName':'n%u',"
                   "'volumes':[%s],'tolerations':[%s]%s},'status':{'phase':'Running'}}",
                   i, cluster->home, claims[cluster->n_volumes - 1],
                   toleration_texts[cluster->pods[i].tolerance], wish));
}

/* ---- the controller that sees them ---- */

static void open_controller(struct controller *c, const struct cluster *cluster)
{
    *c = (struct controller){
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
    };
    c->node_infos = node_infos_new(c->loop, c->settings.driver_name, LIMIT_MS);
    indexes_add(c);
    listen(c);
    for (unsigned i = 0; i < cluster->n_nodes; i++)
        put_node(c, i, &cluster->nodes[i]);
    for (unsigned i = 0; i < cluster->n_volumes; i++)
        put_volume(c, i, &cluster->volumes[i]);
    for (unsigned i = 0; i < cluster->n_pods; i++)
        put_pod(c, cluster, i);
}

static void close_controller(struct controller *c)
{
    store_free(c->volumes);
    store_free(c->attachments);
    store_free(c->snapshots);
    store_free(c->nodes);
    store_free(c->namespaces);
    store_free(c->pods);
    store_free(c->persistent_volumes);
    store_free(c->volume_attachments);
    node_infos_free(c->node_infos);
    loop_free(c->loop);
}

/* ---- the test ---- */

struct seen {
    unsigned placements, complete, short_of_nodes, targets;
};

static void check_target(const struct cluster *cluster, unsigned volume, unsigned node,
                         bool has_slot, unsigned seed)
{
    const struct volume *v = &cluster->volumes[volume];

    if (!may_take(cluster, v, node))
        fail_msg("seed %u: a replica of v%u on n%u", seed, volume, node);
    if (has_slot && v->on[node] == ABSENT && !slots_left(cluster, node))
        fail_msg("seed %u: no place for v%u on n%u", seed, volume, node);
}

/* With one volume nothing else decides: every node that will do is used. */
static unsigned possible(const struct cluster *cluster, const struct volume *volume)
{
    unsigned n = 0;

    for (unsigned node = 0; node < cluster->n_nodes; node++)
        n += may_take(cluster, volume, node) &&
             (volume->on[node] == REPLICA || slots_left(cluster, node));
    return n < volume->shares - 1 ? n : volume->shares - 1;
}

static void check_volume(struct controller *c, const struct cluster *cluster, unsigned volume,
                         unsigned seed, struct seen *seen)
{
    CLEANUP(freep) char *key = mem_printf("d/v%u", volume);
    const struct kube_object *object = store_get(c->volumes, key);
    struct replica_work work;
    bool used[MAX_NODES] = {false};

    replica_work_gather(c, object, &work);
    replica_work_place(c, object, &work);
    for (size_t i = 0; i < work.n_targets; i++) {
        unsigned node = (unsigned)strtoul(work.targets[i].node + 1, NULL, 10);

        if (used[node])
            fail_msg("seed %u: v%u twice on n%u", seed, volume, node);
        used[node] = true;
        check_target(cluster, volume, node, work.targets[i].has_slot, seed);
    }
    if (cluster->n_volumes == 1 && work.n_targets != possible(cluster, &cluster->volumes[volume]))
        fail_msg("seed %u: %zu targets of %u possible", seed, work.n_targets,
                 possible(cluster, &cluster->volumes[volume]));
    seen->placements++;
    seen->targets += (unsigned)work.n_targets;
    seen->complete += work.n_targets == cluster->volumes[volume].shares - 1;
    seen->short_of_nodes += work.why != NULL;
    replica_work_fini(&work);
}

static void test_no_replica_in_a_wrong_place(void **state)
{
    struct seen seen = {0};

    (void)state;
    for (unsigned seed = 1; seen.placements < PLACEMENTS; seed++) {
        struct cluster cluster;
        struct controller controller;

        fill(&cluster, seed);
        open_controller(&controller, &cluster);
        for (unsigned v = 0; v < cluster.n_volumes; v++)
            check_volume(&controller, &cluster, v, seed, &seen);
        close_controller(&controller);
    }
    /* Those that find room, and those that do not, were among them. */
    assert_in_range(seen.complete, PLACEMENTS / 20, PLACEMENTS);
    assert_in_range(seen.short_of_nodes, PLACEMENTS / 20, PLACEMENTS);
    assert_in_range(seen.targets, PLACEMENTS / 3, PLACEMENTS * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_replica_in_a_wrong_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
