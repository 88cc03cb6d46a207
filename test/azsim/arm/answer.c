#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/json/parse.h"
#include "test/azsim/arm/api_version.h"
#include "test/azsim/arm/charge.h"

const char *exchange_header(const struct exchange *exchange, const char *name)
{
    return http_header_find(exchange->call->headers, exchange->call->n_headers, name);
}

const char *exchange_argument(const struct exchange *exchange, const char *name)
{
    return http_header_find(exchange->call->arguments, exchange->call->n_arguments, name);
}

bool exchange_speaks_oauth(const struct exchange *exchange)
{
    return exchange->imds_vm || (exchange->route && !route_is_of_resource_manager(exchange->route));
}

char *exchange_base(const struct exchange *exchange)
{
    const char *host = exchange_header(exchange, "Host");

    return mem_printf("https://%s", host ? host : "management.azure.com");
}

void azure_time(int64_t us, char text[AZURE_TIME_SIZE])
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    size_t length = strftime(text, AZURE_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + length, AZURE_TIME_SIZE - length, ".%06d0+00:00", (int)(us % 1000000));
}

json_t *azure_time_json(int64_t us)
{
    char text[AZURE_TIME_SIZE];

    azure_time(us, text);
    return json_string(text);
}

void answer_header(struct exchange *exchange, const char *name, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *value = mem_vprintf(format, args);
    va_end(args);
    http_reply_header(exchange->reply, name, value);
}

/* ---- bodies ---- */

/* Indented, with the line ends that Azure has. */
static char *dump(const json_t *body)
{
    CLEANUP(freep) char *text = json_dumps(body, JSON_INDENT(2));
    size_t lines = 0;

    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    char *dumped = mem_alloc(strlen(text) + lines + 1), *out = dumped;
    for (const char *c = text; *c; c++) {
        if (*c == '\n')
            *out++ = '\r';
        *out++ = *c;
    }
    return dumped;
}

static void echo_ids(struct exchange *exchange)
{
    struct random *random = loop_random(exchange->model->loop);
    const char *correlation = exchange_header(exchange, "x-ms-correlation-request-id");
    const char *client = exchange_header(exchange, "x-ms-client-request-id");
    const char *wanted = exchange_header(exchange, "x-ms-return-client-request-id");
    char request[UUID_SIZE], stamp[AZURE_TIME_SIZE];
    time_t now = (time_t)(model_now_us(exchange->model) / 1000000);
    struct tm tm;

    random_uuid(random, request);
    gmtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
    CLEANUP(freep) char *region = mem_strdup(exchange->model->location);
    for (char *c = region; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    answer_header(exchange, "x-ms-request-id", "%s", request);
    answer_header(exchange, "x-ms-correlation-request-id", "%s",
                  correlation ? correlation : request);
    answer_header(exchange, "x-ms-routing-request-id", "%s:%s:%s", region, stamp, request);
    if (client && wanted && strcasecmp(wanted, "true") == 0)
        answer_header(exchange, "x-ms-client-request-id", "%s", client);
}

/* What every answer of ARM carries. */
static void common_headers(struct exchange *exchange)
{
    answer_header(exchange, "Cache-Control", "no-cache");
    answer_header(exchange, "Pragma", "no-cache");
    answer_header(exchange, "Expires", "-1");
    answer_header(exchange, "Strict-Transport-Security", "max-age=31536000; includeSubDomains");
    answer_header(exchange, "X-Content-Type-Options", "nosniff");
    echo_ids(exchange);
    if (exchange->principal) {
        answer_header(exchange, "x-ms-operation-identifier", "tenantId=%s,objectId=%s/%s/%s",
                      exchange->model->tenant_id, exchange->principal, exchange->model->location,
                      exchange->principal);
        charge_headers(exchange);
    }
}

void answer(struct exchange *exchange, int status, json_t *body)
{
    const struct arm_config *config = exchange->config;

    common_headers(exchange);
    exchange->reply->status = status;
    if (body) {
        body = api_version_view(exchange, body);
        char *text = config->terse ? json_to_text(body) : dump(body);

        if (config->said)
            config->said(text, strlen(text), body);
        http_reply_body(exchange->reply, status, "application/json; charset=utf-8", text);
    }
    json_decref(body);
}

void answer_refusal(struct exchange *exchange, struct refusal *refusal)
{
    answer(exchange, refusal->status, json_pack("{s:o}", "error", refusal_json(refusal)));
    refusal_free(refusal);
}

void answer_gateway(struct exchange *exchange, struct refusal *refusal)
{
    answer_header(exchange, "x-ms-failure-cause", "gateway");
    if (refusal->status == 401) {
        CLEANUP(freep) char *base = exchange_base(exchange);

        answer_header(exchange, "WWW-Authenticate",
                      "Bearer authorization_uri=\"%s/%s\", error=\"invalid_token\", "
                      "error_description=\"%s\"",
                      base, exchange->model->tenant_id, refusal->message);
    }
    answer_refusal(exchange, refusal);
}

/* ---- requests ---- */

/* Members that are objects in every resource. */
static const char *wrong_shape(const json_t *body)
{
    static const char *const members[] = {"properties", "sku", "tags"};

    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const json_t *member = resource_get(body, members[i]);

        if (member && !json_is_object(member))
            return members[i];
    }
    return NULL;
}

bool exchange_body(struct exchange *exchange, json_t **ret)
{
    json_error_t error;
    json_t *body = json_loadb(exchange->call->body, exchange->call->body_length, 0, &error);
    const char *wrong = json_is_object(body) ? wrong_shape(body) : "body";

    if (!wrong) {
        *ret = body;
        return true;
    }
    CLEANUP(freep)
    char *why = body ? mem_printf("%s: an object is expected", wrong) : mem_strdup(error.text);
    answer_gateway(exchange,
                   refuse(400, "InvalidRequestContent", NULL,
                          "The request content was invalid and could not be deserialized: '%s'.",
                          why));
    json_decref(body);
    return false;
}

/* ---- lists ---- */

bool exchange_lists(const struct exchange *exchange, const struct group *group)
{
    return exchange->group ? group == exchange->group
                           : group->subscription == exchange->subscription;
}

uint64_t exchange_page_after(const struct exchange *exchange)
{
    const char *token = exchange_argument(exchange, "$skiptoken");

    return token ? strtoull(token, NULL, 16) : 0;
}

/* The query without a token of ours, wherever that is: clients sort arguments. */
static char *query_without_token(const char *query)
{
    struct buffer kept = {.limit = 64 * 1024};

    while (*query) {
        size_t length = strcspn(query, "&");

        if (strncasecmp(query, "%24skiptoken=", 13) != 0 &&
            strncasecmp(query, "$skiptoken=", 11) != 0)
            buffer_printf(&kept, "%s%.*s", kept.length ? "&" : "", (int)length, query);
        query += length + (query[length] == '&');
    }
    return buffer_take(&kept);
}

void answer_page(struct exchange *exchange, json_t *items, uint64_t next)
{
    CLEANUP(freep) char *base = exchange_base(exchange);
    CLEANUP(freep) char *query = query_without_token(exchange->call->query);
    json_t *body = json_pack("{s:o}", "value", items);

    if (next > 0)
        json_object_set_new(body, "nextLink",
                            json_sprintf("%s%s?%s&%%24skiptoken=%016llx", base,
                                         exchange->call->path, query, (unsigned long long)next));
    char id[UUID_SIZE];
    random_uuid(loop_random(exchange->model->loop), id);
    answer_header(exchange, "x-ms-original-request-ids", "%s", id);
    answer(exchange, 200, body);
}

/* ---- for the journal ---- */

void exchange_note_vm(struct exchange *exchange, const struct vm *vm)
{
    free(exchange->vm);
    exchange->vm = mem_strdup(vm->spec.name);
}

static json_t *id_of(const struct data_disk *item)
{
    return json_string(resource_text(item->entry, "managedDisk.id", item->key));
}

json_t *arm_disk_names(const json_t *ids)
{
    json_t *names = json_array();

    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i)), *slash = strrchr(id, '/');

        json_array_append_new(names, json_string(slash ? slash + 1 : id));
    }
    return names;
}

void exchange_note_disks(struct exchange *exchange, const struct data_disks *before,
                         const struct data_disks *after)
{
    exchange->attached = json_array();
    exchange->detached = json_array();
    for (size_t i = 0; i < after->n; i++) {
        const struct data_disk *was = data_disks_find(before, after->items[i].key);

        if (!was)
            json_array_append_new(exchange->attached, id_of(&after->items[i]));
        else if (after->items[i].to_be_detached && !was->to_be_detached)
            json_array_append_new(exchange->detached, id_of(was));
    }
    for (size_t i = 0; i < before->n; i++)
        if (!data_disks_find(after, before->items[i].key))
            json_array_append_new(exchange->detached, id_of(&before->items[i]));
}
