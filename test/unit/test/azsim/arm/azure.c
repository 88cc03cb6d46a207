#include "test/unit/test/azsim/arm/azure.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/rt/wait.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"

#define P "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute"
#define Q "/subscriptions/" SUBSCRIPTION "/providers/Microsoft.Compute"

static const struct arm_client clients[] = {{.id = CLIENT, .secret = "s3cr+t&="}};

json_t *json_of(const char *text)
{
    CLEANUP(freep) char *proper = mem_strdup(text);
    json_error_t error;

    for (char *c = proper; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_t *json = json_loads(proper, 0, &error);
    if (!json)
        fail_msg("%s: %s", text, error.text);
    return json;
}

/* ---- life ---- */

static void on_record(void *ctx, const struct arm_record *record)
{
    struct azure *azure = ctx;
    json_t *json =
        json_pack("{s:s*, s:i, s:s*, s:s*, s:s*, s:I}", "kind", record->kind, "status",
                  record->status, "principal", record->principal, "resource", record->resource,
                  "vm", record->vm, "latency", (json_int_t)record->latency_ms);

    if (record->attached)
        json_object_set_new(json, "attached", arm_disk_names(record->attached));
    if (record->detached)
        json_object_set_new(json, "detached", arm_disk_names(record->detached));
    json_array_append_new(azure->records, json);
}

void azure_add_vm(struct azure *azure, const char *name, bool identity)
{
    struct vm_spec spec = {.name = mem_strdup(name),
                           .size = vm_size_find("Standard_D4s_v5"),
                           .zone = mem_strdup("1"),
                           .identity = identity};
    struct vm *vm;

    assert_ok(vm_add(azure->model, azure->model->groups[0], &spec, &vm));
}

static void get_token(struct azure *azure)
{
    json_t *json =
        ask_json(azure, "POST", "/" TENANT "/oauth2/v2.0/token",
                 "grant_type=client_credentials&client_id=" CLIENT
                 "&client_secret=s3cr%2Bt%26%3D&scope=https://management.azure.com/.default",
                 200);

    azure->token = mem_strdup(json_string_value(json_object_get(json, "access_token")));
    json_decref(json);
}

struct azure *azure_new(const struct arm_config *settings)
{
    struct azure *azure = mem_alloc(sizeof *azure);
    struct arm_config config = settings ? *settings : (struct arm_config){0};

    azure->loop = loop_new_virtual(1);
    azure->model = model_new(&(struct model_config){.loop = azure->loop,
                                                    .tenant_id = TENANT,
                                                    .subscription_id = SUBSCRIPTION,
                                                    .location = "eastus"});
    model_add_group(azure->model, "rg");
    assert_ok(latencies_set(&azure->model->latencies,
                            "create=1s,update=1s,delete=1s,attach=10s,detach=1s,power=1s,"
                            "snapshot=1s,copy=100s,orphan=0,get=0,accept=0,token=0,imds=0"));
    assert_ok(throttle_set(azure->model->throttle, "off"));
    azure->records = json_array();
    config.model = azure->model;
    if (!config.clients) {
        config.clients = clients;
        config.n_clients = COUNT_OF(clients);
    }
    config.record = on_record;
    config.record_ctx = azure;
    memset(&config.key, 7, sizeof config.key);
    azure->arm = arm_new(&config);
    azure->transport = arm_transport_new(azure->arm, "vm1");
    azure_add_vm(azure, "vm1", true);
    azure_add_vm(azure, "vm2", false);
    get_token(azure);
    return azure;
}

static void close_transport(struct task *self, void *arg)
{
    struct azure *azure = arg;

    arm_transport_close(self, TAKE_PTR(azure->transport));
}

static void leave(struct azure *azure)
{
    loop_spawn(azure->loop, "close", close_transport, azure);
    loop_advance(azure->loop, 0);
}

void azure_move(struct azure *azure, const char *vm)
{
    leave(azure);
    azure->transport = arm_transport_new(azure->arm, vm);
}

void azure_free(struct azure *azure)
{
    leave(azure);
    arm_free(azure->arm);
    model_free(azure->model);
    loop_free(azure->loop);
    json_decref(azure->records);
    free(azure->token);
    free(azure);
}

/* ---- asking ---- */

struct asked {
    struct azure *azure;
    struct http_request request;
    struct http_response *response;
    bool done;
};

static void exchange(struct task *self, void *arg)
{
    struct asked *asked = arg;

    assert_ok(http_exchange(self, arm_transport_http(asked->azure->transport), &asked->request,
                            asked->response));
    asked->done = true;
}

static char *expand(const char *path)
{
    static const struct {
        const char *name, *value;
    } names[] = {{"{P}", P}, {"{Q}", Q}, {"{T}", TENANT}};
    struct buffer out = {.limit = 64 * 1024};

    buffer_printf(&out, "%s", strncmp(path, "http", 4) == 0 ? "" : "https://azsim:443");
    while (*path) {
        size_t i = 0;

        while (i < COUNT_OF(names) && strncmp(path, names[i].name, 3) != 0)
            i++;
        if (i < COUNT_OF(names))
            buffer_printf(&out, "%s", names[i].value);
        else
            buffer_printf(&out, "%c", *path);
        path += i < COUNT_OF(names) ? 3 : 1;
    }
    if (!strchr(out.data, '?'))
        buffer_printf(&out, "?api-version=2025-01-02");
    return buffer_take(&out);
}

void ask(struct azure *azure, const char *method, const char *path, const char *body,
         struct http_response *ret)
{
    CLEANUP(freep) char *url = expand(path);
    CLEANUP(freep)
    char *authorization = azure->token ? mem_printf("Bearer %s", azure->token) : NULL;
    CLEANUP(freep) char *proper = body ? mem_strdup(body) : NULL;
    struct http_header headers[1 + COUNT_OF(azure->extra)];
    size_t n = 0;

    for (char *c = proper; c && *c; c++)
        if (*c == '\'')
            *c = '"';
    if (authorization)
        headers[n++] = (struct http_header){"Authorization", authorization};
    for (size_t i = 0; i < COUNT_OF(azure->extra); i++)
        if (azure->extra[i].name)
            headers[n++] = azure->extra[i];

    struct asked asked = {.azure = azure,
                          .request = {.method = method,
                                      .url = url,
                                      .headers = headers,
                                      .n_headers = n,
                                      .body = proper,
                                      .body_length = proper ? strlen(proper) : 0,
                                      .deadline = TIMER_NEVER},
                          .response = ret};
    loop_spawn(azure->loop, "ask", exchange, &asked);
    loop_advance(azure->loop, 0);
    assert_true(asked.done);
}

json_t *ask_json(struct azure *azure, const char *method, const char *path, const char *body,
                 int status)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    json_error_t error;

    ask(azure, method, path, body, &response);
    if (response.status != status)
        fail_msg("%s %s: %d instead of %d: %s", method, path, response.status, status,
                 response.body);
    json_t *json = json_loads(response.body, JSON_DECODE_ANY, &error);
    if (!json)
        fail_msg("%s %s: %s", method, path, error.text);
    return json;
}

void make_disk(struct azure *azure, const char *name, int max_shares)
{
    CLEANUP(freep) char *path = mem_printf("{P}/disks/%s", name);
    CLEANUP(freep)
    char *body = mem_printf("{'location': 'eastus', 'zones': ['1'], 'sku': {'name': 'Premium_LRS'},"
                            " 'properties': {'creationData': {'createOption': 'Empty'}, "
                            "'diskSizeGB': 10, 'maxShares': %d}}",
                            max_shares);

    json_decref(ask_json(azure, "PUT", path, body, 202));
    loop_advance(azure->loop, 1000);
}

const char *header_of(const struct http_response *response, const char *name)
{
    const char *value = http_header_find(response->headers, response->n_headers, name);

    return value ? value : "";
}
