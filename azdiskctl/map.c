#include "azdiskctl/map.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/overview.h"
#include "azdiskctl/text_table.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"

/* ---- the document ---- */

static json_t *json_of_attachment(const struct kube_object *attachment)
{
    json_t *json = json_pack("{s:s?, s:s, s:s}", "node", attachment_node(attachment), "role",
                             attachment_role(attachment), "stage", attachment_stage(attachment));
    int lun = attachment_lun(as_attachment(attachment));

    if (lun != NO_LUN)
        json_object_set_new(json, "lun", json_integer(lun));
    const char *reason = attachment_unready_reason(as_attachment(attachment));
    if (reason)
        json_object_set_new(json, "notReady", json_string(reason));
    return json;
}

/* Primaries first. */
static json_t *attachments_json(const struct object_index *by_volume, const char *volume)
{
    json_t *list = json_array();
    struct object_list found = object_index_find(by_volume, volume);

    for (int primary = 1; primary >= 0; primary--)
        for (size_t i = 0; i < found.n; i++)
            if (attachment_wants(as_attachment(found.items[i]), ROLE_PRIMARY) == (primary == 1))
                json_array_append_new(list, json_of_attachment(found.items[i]));
    return list;
}

static json_t *volumes_json(const struct overview *overview)
{
    const struct cluster *cluster = overview->cluster;
    json_t *list = json_array();
    CLEANUP(freep) struct kube_object **volumes = objects_sorted(&cluster->view.volumes);

    for (size_t i = 0; i < cluster->view.volumes.n; i++) {
        const struct kube_object *volume = volumes[i];
        CLEANUP(freep) char *zones = volume_zones(cluster, volume);
        CLEANUP(freep) char *claim = claim_of_pv(overview_pv(overview, volume_disk_id(volume)));

        json_array_append_new(
            list, json_pack("{s:s, s:s?, s:s, s:s, s:i, s:i, s:o}", "name", volume->metadata->name,
                            "claim", claim, "zone", zones, "state", volume_stage(volume), "percent",
                            volume_percent(as_volume(volume)), "maxShares",
                            (int)volume_max_shares(as_volume(volume)), "attachments",
                            attachments_json(&overview->by_volume, volume->metadata->name)));
    }
    return list;
}

static json_t *node_json(const struct overview *overview, const struct kube_object *plugin)
{
    const struct cluster *cluster = overview->cluster;
    const char *name = plugin->metadata->name;
    const Api__AzDriverNodeStatus *status = KUBE_AS(Api__AzDriverNode, plugin)->status;
    const struct kube_object *node = find_object(&cluster->view.nodes, name);
    int primaries = 0;
    struct object_list found = object_index_find(&overview->by_node, name);

    for (size_t i = 0; i < found.n; i++)
        primaries += attachment_wants(as_attachment(found.items[i]), ROLE_PRIMARY);
    json_t *json =
        json_pack("{s:s, s:s?, s:b, s:b, s:i, s:i}", "name", name, "zone", node_zone(cluster, node),
                  "ready", node && node_is_ready(KUBE_AS(Api__Node, node)), "pluginReady",
                  status && status->ready_for_volume_allocation, "primaries", primaries, "replicas",
                  (int)found.n - primaries);
    if (status && status->slots && status->slots->has_limit)
        json_object_set_new(json, "places", json_integer(status->slots->limit));
    return json;
}

static json_t *nodes_json(const struct overview *overview)
{
    const struct cluster *cluster = overview->cluster;
    json_t *list = json_array();
    CLEANUP(freep) struct kube_object **nodes = objects_sorted(&cluster->view.driver_nodes);

    for (size_t i = 0; i < cluster->view.driver_nodes.n; i++)
        json_array_append_new(list, node_json(overview, nodes[i]));
    return list;
}

static json_t *snapshot_json(const struct kube_object *object)
{
    const Api__AzSnapshot *snapshot = as_snapshot(object);
    const char *id = snapshot->spec ? snapshot->spec->source_volume_id : NULL;
    const char *slash = id ? strrchr(id, '/') : NULL;

    return json_pack("{s:s, s:s?, s:s, s:b, s:i}", "name", object->metadata->name, "disk",
                     slash ? slash + 1 : id, "state",
                     kube_is_deleting(object->metadata)  ? "Deleting"
                     : *snapshot_state(snapshot) != '\0' ? snapshot_state(snapshot)
                                                         : "Pending",
                     "ready", snapshot_is_ready(snapshot), "percent", snapshot_percent(snapshot));
}

static json_t *snapshots_json(const struct cluster *cluster)
{
    json_t *list = json_array();
    CLEANUP(freep) struct kube_object **snapshots = objects_sorted(&cluster->view.snapshots);

    for (size_t i = 0; i < cluster->view.snapshots.n; i++)
        json_array_append_new(list, snapshot_json(snapshots[i]));
    return list;
}

json_t *map_json(const struct cluster *cluster)
{
    CLEANUP(overview_fini) struct overview overview = overview_of(cluster);

    return json_pack("{s:o, s:o, s:o}", "volumes", volumes_json(&overview), "nodes",
                     nodes_json(&overview), "snapshots", snapshots_json(cluster));
}

/* ---- text ---- */

/* "P node-a:0, R node-b:1 attaching, R node-c:0 not ready: no disk at LUN 0" */
static char *places_text(const json_t *attachments)
{
    struct buffer text;

    buffer_init(&text, 1 << 20);
    for (size_t i = 0; i < json_array_size(attachments); i++) {
        const json_t *attachment = json_array_get(attachments, i);
        const json_t *lun = json_object_get(attachment, "lun");
        const char *node = text_of(attachment, "node"), *stage = text_of(attachment, "stage");
        const char *unready = json_string_value(json_object_get(attachment, "notReady"));

        buffer_printf(&text, "%s%.1s %s", i ? ", " : "", text_of(attachment, "role"),
                      node ? node : "?");
        if (lun)
            buffer_printf(&text, ":%d", (int)json_integer_value(lun));
        if (strcmp(stage, "attached") != 0)
            buffer_printf(&text, " %s", stage);
        if (unready)
            buffer_printf(&text, " not ready: %s", unready);
    }
    if (!text.length)
        buffer_printf(&text, "-");
    return buffer_take(&text);
}

/* "Created, 40 %" while data is copied to its disk. */
static char *state_text(const json_t *volume)
{
    int percent = (int)json_integer_value(json_object_get(volume, "percent"));
    const char *state = text_of(volume, "state");

    return percent < 100 ? mem_printf("%s, %d %%", state, percent) : mem_strdup(state);
}

static void write_volumes(const json_t *volumes, struct buffer *out)
{
    static const char *const head[] = {"VOLUME", "CLAIM", "ZONE", "STATE", "SHARES", "ON NODES"};
    struct text_table table = {.columns = COUNT_OF(head)};

    text_table_add_row(&table, head);
    for (size_t i = 0; i < json_array_size(volumes); i++) {
        const json_t *volume = json_array_get(volumes, i);
        const json_t *attachments = json_object_get(volume, "attachments");

        text_table_add(&table, text_of(volume, "name"));
        text_table_add(&table, text_of(volume, "claim"));
        text_table_add(&table, text_of(volume, "zone"));
        text_table_take(&table, state_text(volume));
        text_table_take(&table,
                        mem_printf("%zu/%d", json_array_size(attachments),
                                   (int)json_integer_value(json_object_get(volume, "maxShares"))));
        text_table_take(&table, places_text(attachments));
    }
    text_table_write(&table, "", out);
}

static void write_nodes(const json_t *nodes, struct buffer *out)
{
    static const char *const head[] = {"NODE",  "ZONE",      "READY",   "PLUG-IN",
                                       "SLOTS", "PRIMARIES", "REPLICAS"};
    struct text_table table = {.columns = COUNT_OF(head)};

    text_table_add_row(&table, head);
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        const json_t *places = json_object_get(node, "places");

        text_table_add(&table, text_of(node, "name"));
        text_table_add(&table, text_of(node, "zone"));
        text_table_add(&table, json_is_true(json_object_get(node, "ready")) ? "yes" : "no");
        text_table_add(&table, json_is_true(json_object_get(node, "pluginReady")) ? "ready" : "no");
        text_table_take(&table, places ? mem_printf("%d", (int)json_integer_value(places))
                                       : mem_strdup("?"));
        text_table_take(
            &table, mem_printf("%d", (int)json_integer_value(json_object_get(node, "primaries"))));
        text_table_take(
            &table, mem_printf("%d", (int)json_integer_value(json_object_get(node, "replicas"))));
    }
    text_table_write(&table, "", out);
}

static void write_snapshots(const json_t *snapshots, struct buffer *out)
{
    static const char *const head[] = {"SNAPSHOT", "DISK", "STATE", "READY", "COPIED"};
    struct text_table table = {.columns = COUNT_OF(head)};

    text_table_add_row(&table, head);
    for (size_t i = 0; i < json_array_size(snapshots); i++) {
        const json_t *snapshot = json_array_get(snapshots, i);

        text_table_add(&table, text_of(snapshot, "name"));
        text_table_add(&table, text_of(snapshot, "disk"));
        text_table_add(&table, text_of(snapshot, "state"));
        text_table_add(&table, json_is_true(json_object_get(snapshot, "ready")) ? "yes" : "no");
        text_table_take(&table, mem_printf("%d %%", (int)json_integer_value(
                                                        json_object_get(snapshot, "percent"))));
    }
    text_table_write(&table, "", out);
}

void map_text(const json_t *map, struct buffer *out)
{
    write_volumes(json_object_get(map, "volumes"), out);
    buffer_printf(out, "\n");
    write_nodes(json_object_get(map, "nodes"), out);
    if (json_array_size(json_object_get(map, "snapshots")) == 0)
        return;
    buffer_printf(out, "\n");
    write_snapshots(json_object_get(map, "snapshots"), out);
}
