#include "test/unit/scheduler-extender/cluster.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/http/transport.h"
#include "lib/rt/group.h"
#include "scheduler-extender/informers.h"

struct cluster {
    struct http_transport transport;
    struct cluster_objects objects;
    struct loop *loop;
    struct task_group group;
    struct extender extender;
    struct http_stream silence; /* a watch on which nothing ever happens */
    struct waiters never;
};

/* ---- the API server ---- */

static struct cluster *cluster_of(struct http_transport *transport)
{
    return CONTAINER_OF(transport, struct cluster, transport);
}

static const char *const *items_for(const struct cluster *cluster, const char *url)
{
    const struct {
        const char *path;
        const char *const *items;
    } lists[] = {
        {"/api/v1/persistentvolumeclaims?", cluster->objects.claims},
        {"/api/v1/persistentvolumes?", cluster->objects.volumes},
        {"/namespaces/azure-disk-csi/azvolumeattachments?", cluster->objects.attachments},
        {"/namespaces/azure-disk-csi/azdrivernodes?", cluster->objects.driver_nodes},
    };

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (strstr(url, lists[i].path))
            return lists[i].items;
    return NULL;
}

static struct err *answer_list(struct http_transport *transport, struct task *self,
                               const struct http_request *request, struct http_response *ret)
{
    const char *const *items = items_for(cluster_of(transport), request->url);
    struct buffer text;

    (void)self;
    if (!items)
        return err_new(ERR_UNAVAILABLE, "no answer");
    buffer_init(&text, 1 << 20);
    buffer_printf(&text, "{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[");
    for (size_t i = 0; items[i]; i++)
        buffer_printf(&text, "%s%s", i ? "," : "", items[i]);
    buffer_printf(&text, "]}");
    ret->status = 200;
    ret->body_length = text.length;
    ret->body = buffer_take(&text);
    return NULL;
}

static struct err *wait_in_silence(struct http_stream *stream, struct task *self, uint64_t deadline,
                                   const char **ret_data, size_t *ret_length)
{
    struct cluster *cluster = CONTAINER_OF(stream, struct cluster, silence);

    (void)ret_data, (void)ret_length;
    return wait_for_change(self, &cluster->never, deadline);
}

static void close_silence(struct http_stream *stream)
{
    (void)stream;
}

static struct err *open_watch(struct http_transport *transport, struct task *self,
                              const struct http_request *request,
                              struct http_response *ret_response, struct http_stream **ret_stream)
{
    (void)self, (void)request;
    ret_response->status = 200;
    *ret_stream = &cluster_of(transport)->silence;
    return NULL;
}

/* ---- the extender ---- */

struct cluster *cluster_new(const struct cluster_objects *objects)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    char server[] = "https://api";

    cluster->objects = *objects;
    cluster->transport = (struct http_transport){answer_list, open_watch};
    cluster->silence = (struct http_stream){wait_in_silence, close_silence};
    waiters_init(&cluster->never);
    cluster->loop = loop_new_virtual(0);
    group_init(&cluster->group, cluster->loop);
    cluster->extender = (struct extender){
        .loop = cluster->loop,
        .settings = {"disk.csi.azure.com", "azure-disk-csi", 2 * 60 * 1000},
        .kube =
            kube_new(cluster->loop, &cluster->transport, &(struct kube_config){.server = server}),
    };
    informers_start(&cluster->extender, &cluster->group);
    cluster_advance(cluster, 100);
    return cluster;
}

static void stop(struct task *self, void *arg)
{
    struct cluster *cluster = arg;

    group_close(self, &cluster->group);
}

void cluster_free(struct cluster *cluster)
{
    loop_spawn(cluster->loop, "stop", stop, cluster);
    loop_run(cluster->loop);
    informers_free(&cluster->extender);
    kube_free(cluster->extender.kube);
    loop_free(cluster->loop);
    free(cluster);
}

const struct extender *cluster_extender(const struct cluster *cluster)
{
    return &cluster->extender;
}

void cluster_advance(struct cluster *cluster, uint64_t ms)
{
    loop_advance(cluster->loop, ms);
}
