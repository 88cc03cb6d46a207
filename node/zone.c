#include "node/zone.h"

#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/json/parse.h"

#define METADATA_URL "http://169.254.169.254/metadata/instance?api-version=2021-10-01&format=json"
#define LABEL_REGION "topology.kubernetes.io/region"

enum {
    ATTEMPTS = 3,
    ATTEMPT_MS = 2 * 1000, /* the service is on the VM's own host */
    PAUSE_MS = 500,
    LARGEST_ANSWER = 256 * 1024,
};

/* ---- the metadata service ---- */

static const char *member(const json_t *instance, const char *name)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(instance, "compute"), name));

    return text ? text : "";
}

struct err *zone_of_metadata(const json_t *instance, char **ret_zone)
{
    CLEANUP(freep) char *location = mem_lower(member(instance, "location"));
    const char *zone = member(instance, "zone");

    if (!location[0])
        return err_new(ERR_INVALID, "the answer has no compute.location");
    *ret_zone = zone[0] ? mem_printf("%s-%s", location, zone) : mem_strdup("");
    return NULL;
}

static struct err *ask_once(struct task *self, struct node *node, char **ret_zone)
{
    static const struct http_header header = {"Metadata", "true"};
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *instance = NULL;
    struct http_request request = {
        .url = METADATA_URL,
        .headers = &header,
        .n_headers = 1,
        .deadline = loop_deadline(node->loop, ATTEMPT_MS),
        .max_response = LARGEST_ANSWER,
    };

    TRY(http_exchange(self, node->metadata, &request, &response));
    if (response.status != 200)
        return err_new(ERR_UNAVAILABLE, "status %d", response.status);
    TRY(json_parse(self, response.body, response.body_length, &instance));
    return zone_of_metadata(instance, ret_zone);
}

static struct err *ask_metadata(struct task *self, struct node *node, uint64_t deadline,
                                char **ret_zone)
{
    CLEANUP(err_freep) struct err *err = NULL;

    for (int i = 0; i < ATTEMPTS; i++) {
        if (i > 0)
            TRY(task_sleep(self, PAUSE_MS));
        err_free(err);
        err = ask_once(self, node, ret_zone);
        if (!err || err_kind(err) == ERR_CANCELED || loop_now(node->loop) >= deadline)
            return TAKE_PTR(err);
    }
    return err_wrap(TAKE_PTR(err), "reading the instance metadata");
}

/* ---- the Node ---- */

char *zone_of_labels(const Api__ObjectMeta *node)
{
    const char *zone = kube_label(node, ZONE_OF_KUBERNETES),
               *region = kube_label(node, LABEL_REGION);
    size_t length = region ? strlen(region) : 0;

    if (zone && length && strncmp(zone, region, length) == 0 && zone[length] == '-')
        return mem_strdup(zone);
    return mem_strdup("");
}

static struct err *ask_cluster(struct task *self, struct node *node, char **ret_zone)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    struct err *err = kube_get(self, node->kube, &NODES, NULL, node->settings.node_id, &object);
    if (err)
        return err_wrap(err, "reading the zone from the Node's labels");
    *ret_zone = zone_of_labels(object->metadata);
    return NULL;
}

struct err *zone_find(struct task *self, struct node *node, uint64_t deadline, char **ret_zone)
{
    CLEANUP(freep) char *zone = NULL;

    if (node->zone) {
        *ret_zone = mem_strdup(node->zone);
        return NULL;
    }
    CLEANUP(err_freep) struct err *err = ask_metadata(self, node, deadline, &zone);
    if (!err) {
        free(node->zone); /* another call may have been faster */
        node->zone = mem_strdup(zone);
    } else if (err_kind(err) == ERR_CANCELED) {
        return TAKE_PTR(err);
    } else {
        log_warning("%s; using the zone in the Node's labels instead", err_message(err));
        TRY(ask_cluster(self, node, &zone));
    }
    *ret_zone = TAKE_PTR(zone);
    return NULL;
}
