#include "test/unit/provisioner-lib/azure/cloud_world.h"

#include <stdlib.h>

#include "lib/base/alloc.h"

static bool is_for(const struct stand_in *stand_in, const struct http_request *request)
{
    const char *method = request->method ? request->method : "GET";

    return stand_in->times > 0 && strstr(request->url, stand_in->text) &&
           (!stand_in->method || strcmp(stand_in->method, method) == 0);
}

static void answer_instead(const struct stand_in *stand_in, struct http_response *ret)
{
    CLEANUP(json_decrefp) json_t *body = stand_in->body ? json_of(stand_in->body) : NULL;

    *ret = (struct http_response){.status = stand_in->status};
    ret->body = body ? json_dumps(body, 0) : mem_strdup("");
    ret->body_length = strlen(ret->body);
    ret->headers = mem_alloc(COUNT_OF(stand_in->headers) * sizeof *ret->headers);
    for (size_t i = 0; i < COUNT_OF(stand_in->headers) && stand_in->headers[i].name; i++)
        ret->headers[ret->n_headers++] = (struct http_header){
            mem_strdup(stand_in->headers[i].name), mem_strdup(stand_in->headers[i].value)};
}

static struct err *network_exchange(struct http_transport *transport, struct task *self,
                                    const struct http_request *request, struct http_response *ret)
{
    struct network *network = CONTAINER_OF(transport, struct network, transport);
    bool changes =
        request->method && strcmp(request->method, "GET") != 0 && !strstr(request->url, "oauth2");

    network->requests++;
    if (changes && network->refuse > 0) {
        network->refuse--;
        return err_new(ERR_NOT_SENT, "connection refused");
    }
    if (changes && network->lose_requests > 0) {
        network->lose_requests--;
        return err_new(ERR_UNAVAILABLE, "connection reset");
    }
    if (is_for(&network->stand_in, request)) {
        network->stand_in.times--;
        answer_instead(&network->stand_in, ret);
        return NULL;
    }
    if (changes && request->body) {
        json_decref(network->last_body);
        network->last_body = json_loadb(request->body, request->body_length, 0, NULL);
    }
    TRY(http_exchange(self, network->inner, request, ret));
    if (changes && network->lose_answers > 0) {
        network->lose_answers--;
        http_response_fini(ret);
        return err_new(ERR_UNAVAILABLE, "connection reset");
    }
    return NULL;
}

struct world *world_with_cache(const char *cache_file)
{
    static const char text[] =
        "{tenantId: '" TENANT "', subscriptionId: '" SUBSCRIPTION "', resourceGroup: rg, "
        "location: eastus, aadClientId: '" CLIENT "', aadClientSecret: 's3cr+t&='}";
    struct world *world = mem_alloc(sizeof *world);

    world->azure = azure_new(NULL);
    world->network = (struct network){.transport = {.exchange = network_exchange},
                                      .inner = arm_transport_http(world->azure->transport)};
    assert_ok(azure_config_parse(text, strlen(text), &world->config));
    group_init(&world->group, world->azure->loop);
    world->cloud = azure_cloud_new(&world->group, &world->config, cache_file,
                                   &world->network.transport, world->network.inner);
    json_array_clear(world->azure->records);
    return world;
}

struct world *world_new(void)
{
    return world_with_cache(NULL);
}

static void close_group(struct task *self, void *arg)
{
    struct world *world = arg;

    group_close(self, &world->group);
}

void world_close(struct world *world)
{
    loop_spawn(world->azure->loop, "close", close_group, world);
    loop_advance(world->azure->loop, 0);
}

void world_free(struct world *world)
{
    world_close(world);
    json_decref(world->network.last_body);
    azure_cloud_free(world->cloud);
    azure_config_fini(&world->config);
    azure_free(world->azure);
    free(world);
}

/* ---- wishes ---- */

static struct err *create(struct task *self, struct wish *wish)
{
    struct volume_parameters parameters = {.sku = "Premium_LRS",
                                           .max_shares = wish->max_shares ? wish->max_shares : 1};
    struct cloud_disk_spec spec = {
        .name = wish->disk,
        .size_gib = wish->size_gib ? wish->size_gib : 10,
        .zone = wish->zone ? wish->zone : "eastus-1",
        .parameters = &parameters,
        .creator = {WORLD_DRIVER, wish->cluster ? wish->cluster : WORLD_CLUSTER},
    };
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct cloud *cloud = wish->world->cloud;

    return cloud->ops->disk_create(self, cloud, &spec, &disk);
}

static bool is_wanted(void *ctx, const struct cloud_instance *instance)
{
    const struct wish *wish = ctx;

    (void)instance;
    return *wish->wanted;
}

static void note_accepted(void *ctx, bool yes)
{
    struct wish *wish = ctx;

    wish->accepted = yes;
    wish->came_to_nothing += !yes;
}

static struct err *attach(struct task *self, struct wish *wish, const char *disk)
{
    struct cloud *cloud = wish->world->cloud;
    CLEANUP(freep)
    char *leaving = wish->swap_out ? mem_printf(DISK("%s"), wish->swap_out) : NULL;

    return cloud->ops->disk_attach(self, cloud,
                                   &(struct cloud_attach){
                                       .instance_id = wish->vm,
                                       .disk_id = disk,
                                       .lun = wish->lun,
                                       .caching = CACHING_NONE,
                                       .urgency = wish->urgency,
                                       .swap_out = (const char *const *)&leaving,
                                       .n_swap_out = leaving ? 1 : 0,
                                       .precondition = wish->wanted ? is_wanted : NULL,
                                       .accepted = note_accepted,
                                       .ctx = wish,
                                   });
}

static bool is_off(void *ctx)
{
    return ((const struct wish *)ctx)->off;
}

static void run_wish(struct task *self, void *arg)
{
    struct wish *wish = arg;
    struct cloud *cloud = wish->world->cloud;
    CLEANUP(freep) char *disk = wish->disk ? mem_printf(DISK("%s"), wish->disk) : NULL;

    switch (wish->kind) {
    case CREATE:
        wish->err = create(self, wish);
        break;
    case DELETE:
        wish->err = cloud->ops->disk_delete(self, cloud, disk);
        break;
    case ATTACH:
        wish->err = attach(self, wish, disk);
        break;
    case DETACH:
        wish->err = cloud->ops->disk_detach(self, cloud,
                                            &(struct cloud_detach){.instance_id = wish->vm,
                                                                   .disk_id = disk,
                                                                   .urgency = wish->urgency,
                                                                   .out_of_service = is_off,
                                                                   .ctx = wish,
                                                                   .forced = &wish->forced});
        break;
    case REPAIR:
        wish->err = cloud->ops->instance_repair(self, cloud, wish->vm, wish->urgency);
        break;
    case LOOK:
        wish->err = cloud->ops->instance_get(self, cloud, wish->vm, 60 * 1000, wish->urgency,
                                             &wish->instance);
        break;
    }
    wish->ended = true;
    wish->ended_at = now_of(wish->world);
}

void begin(struct world *world, struct wish *wish)
{
    wish->world = world;
    loop_spawn(world->azure->loop, "wish", run_wish, wish);
}

/* Until all of them have ended; at most two minutes. */
void finish(struct world *world, struct wish *wishes, size_t n)
{
    size_t ended = 0;

    for (int second = 0; second < 120 && ended < n; second++) {
        loop_advance(world->azure->loop, 1000);
        for (size_t i = ended = 0; i < n; i++)
            ended += wishes[i].ended;
    }
    assert_int_equal(ended, n);
}

struct err *wish(struct world *world, struct wish one)
{
    begin(world, &one);
    finish(world, &one, 1);
    return one.err;
}

struct cloud_instance model_of(struct world *world, const char *vm)
{
    struct wish look = {.kind = LOOK, .vm = vm};

    begin(world, &look);
    finish(world, &look, 1);
    assert_ok(look.err);
    return look.instance;
}

void make_disks(struct world *world, const char *const *names, size_t n, int max_shares)
{
    for (size_t i = 0; i < n; i++)
        assert_ok(
            wish(world, (struct wish){.kind = CREATE, .disk = names[i], .max_shares = max_shares}));
    json_array_clear(world->azure->records);
}

/* ---- what came of it ---- */

uint64_t now_of(const struct world *world)
{
    return loop_now(world->azure->loop);
}

int calls(const struct world *world, const char *kind)
{
    int n = 0;
    size_t i;
    json_t *record;

    json_array_foreach(world->azure->records, i, record) {
        const char *is = json_string_value(json_object_get(record, "kind"));

        n += is && strcmp(is, kind) == 0;
    }
    return n;
}

int attached(const struct world *world, const char *vm)
{
    int n = 0;

    LIST_FOREACH(&vm_find_by_name(world->azure->model, vm)->attachments, link)
        n++;
    return n;
}
