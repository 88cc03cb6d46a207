/* Requests to CSI's Controller service. The first byte says which method: '0' and on are those of
 * the service's table, in their order. The controller is whole; the API server answers what is
 * created as it was sent, and knows nothing else. */
#include "controller/app.h"
#include "controller/csi/service.h"
#include "lib/base/list.h"
#include "lib/json/parse.h"
#include "lib/rpc/unpack.h"
#include "lib/rt/wait.h"
#include "test/fuzz/answers.h"

enum { CALL_MS = 30 * 1000, HOUR_MS = 60 * 60 * 1000 };

struct world {
    struct loop *loop;
    struct http_transport api_server;
    struct answers azure;
    struct flags flags;
    struct azure_config azure_config;
    struct kube_config kube_config;
    struct kube *kube;
    struct app app;
};

/* ---- the API server ---- */

/* What was created, as it stands then. */
static char *created(const struct http_request *request)
{
    CLEANUP(json_decrefp) json_t *object = NULL;

    MUST(input_taken(json_parse_here(request->body, request->body_length, &object)));
    json_t *metadata = json_object_get(object, "metadata");
    MUST(json_is_string(json_object_get(metadata, "name")));
    json_object_set_new(metadata, "resourceVersion", json_string("2"));
    json_object_set_new(metadata, "namespace", json_string("azure-disk-csi"));
    return json_to_text(object);
}

static bool is_list(const char *url)
{
    return strstr(url, "resourceVersion=") || strstr(url, "limit=") ||
           strstr(url, "fieldSelector=");
}

static const char *list_of(const char *url)
{
    static const char nodes[] = "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{"
                                "\"metadata\":{\"name\":\"n\",\"namespace\":\"azure-disk-csi\"},"
                                "\"spec\":{\"nodeName\":\"n\"}}]}";
    static const char namespaces[] = "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{"
                                     "\"metadata\":{\"name\":\"kube-system\",\"uid\":\"c\"}}]}";
    static const char none[] = "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}";

    return strstr(url, "nodes") ? nodes : strstr(url, "/namespaces?") ? namespaces : none;
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    (void)transport;
    TRY(task_sleep(self, 1));
    *ret = (struct http_response){.status = 200};
    if (request->method && strcmp(request->method, "POST") == 0)
        ret->body = created(request);
    else if (is_list(request->url))
        ret->body = mem_strdup(list_of(request->url));
    else
        *ret = (struct http_response){
            .status = 404, .body = mem_strdup("{\"reason\":\"NotFound\",\"message\":\"m\"}")};
    ret->body_length = strlen(ret->body);
    return NULL;
}

static struct err *read_nothing(struct http_stream *stream, struct task *self, uint64_t deadline,
                                const char **ret_data, size_t *ret_length)
{
    (void)stream, (void)deadline, (void)ret_data, (void)ret_length;
    TRY(task_sleep(self, HOUR_MS));
    return err_new(ERR_TIMEOUT, "nothing comes");
}

static void close_nothing(struct http_stream *stream)
{
    (void)stream;
}

static struct err *open_watch(struct http_transport *transport, struct task *self,
                              const struct http_request *request,
                              struct http_response *ret_response, struct http_stream **ret_stream)
{
    static struct http_stream nothing = {.read = read_nothing, .close = close_nothing};

    (void)transport, (void)request;
    TRY(task_sleep(self, 1));
    *ret_response = (struct http_response){.status = 200, .body = mem_strdup("")};
    *ret_stream = &nothing;
    return NULL;
}

/* ---- the controller ---- */

static void read_cluster(struct task *self, void *arg)
{
    struct world *world = arg;

    MUST(input_taken(app_read_cluster(self, &world->app)));
}

static void start(struct world *world)
{
    static char program[] = "azdisk-controller", server[] = "https://server";
    static const char config[] = "{tenantId: t, subscriptionId: s, resourceGroup: rg, location: l, "
                                 "aadClientId: c, aadClientSecret: x}";
    char *const arguments[] = {program, NULL};
    int status;

    world->loop = loop_new_virtual(1);
    world->api_server = (struct http_transport){.exchange = exchange, .open = open_watch};
    answers_init(&world->azure, "");
    MUST(flags_parse(1, arguments, &world->flags, &status));
    world->flags.pod_name = program;
    MUST(input_taken(azure_config_parse(config, strlen(config), &world->azure_config)));
    world->kube_config = (struct kube_config){.server = server, .namespace_ = program};
    world->kube = kube_new(world->loop, &world->api_server, &world->kube_config);
    app_init(&world->app, world->loop, &world->flags);
    app_connect_cluster(&world->app, world->kube, &world->api_server, &world->kube_config);
    app_connect_cloud(&world->app, &world->azure_config, &world->azure.transport,
                      &world->azure.transport);
    MUST(task_returns(world->loop, read_cluster, world, HOUR_MS));
}

static void close_app(struct task *self, void *app)
{
    app_close(self, app);
}

static void stop(struct world *world)
{
    MUST(task_returns(world->loop, close_app, &world->app, HOUR_MS));
    kube_free(world->kube);
    azure_config_fini(&world->azure_config);
    answers_fini(&world->azure);
    loop_free(world->loop);
}

/* ---- a call ---- */

struct calling {
    struct world *world;
    const struct rpc_service *service;
    const struct rpc_method *method;
    ProtobufCMessage *request;
    struct arena *arena;
};

static const ProtobufCMethodDescriptor *types_of(const struct calling *calling)
{
    return protobuf_c_service_descriptor_get_method_by_name(calling->service->descriptor,
                                                            calling->method->name);
}

/* What is answered can be sent. */
static void call(struct task *self, void *arg)
{
    const struct calling *calling = arg;
    const ProtobufCMessageDescriptor *type = types_of(calling)->output;
    ProtobufCMessage *response = arena_alloc(calling->arena, type->sizeof_message);
    struct rpc_call rpc = {.method = calling->method->name,
                           .ctx = calling->service->ctx,
                           .arena = calling->arena,
                           .deadline = loop_now(calling->world->loop) + CALL_MS};

    protobuf_c_message_init(type, response);
    if (!input_taken(calling->method->handler(self, &rpc, calling->request, response)))
        return;
    CLEANUP(freep) uint8_t *bytes = mem_alloc(protobuf_c_message_get_packed_size(response) + 1);
    protobuf_c_message_pack(response, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct world world;
    struct rpc_service service = csi_controller_service(&world.app.controller);
    struct calling calling = {.world = &world, .service = &service, .arena = arena};
    size_t index = size > 0 ? (size_t)data[0] - '0' : service.n_methods;

    if (index >= service.n_methods)
        return 0;
    calling.method = &service.methods[index];
    if (!input_taken(
            rpc_unpack(types_of(&calling)->input, data + 1, size - 1, arena, &calling.request)))
        return 0;
    start(&world);
    MUST(task_returns(world.loop, call, &calling, HOUR_MS));
    stop(&world);
    return 0;
}
