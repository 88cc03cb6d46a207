#include "provisioner-lib/azure/arm_client.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"
#include "provisioner-lib/azure/arm_error.h"

#define ENDPOINTS_PATH "/metadata/endpoints?api-version=2019-05-01"

enum {
    REQUEST_TIMEOUT_MS = 60 * 1000,
    POLL_LEAST_MS = 1000,
    POLL_MOST_MS = 4 * 1000, /* Azure allows 15 looks a minute at the operations of one VM */
    POLL_FAILURES = 10,      /* in a row, after which the outcome is unknown */
    LARGEST_ANSWER = 64 * 1024 * 1024, /* a region's list of SKUs has several MiB */
};

struct arm_client {
    struct loop *loop;
    struct azure_config *config;
    struct http_transport *transport;
    struct credential *credential;
};

struct arm_client *arm_client_new(struct loop *loop, struct azure_config *config,
                                  struct http_transport *transport, struct credential *credential)
{
    struct arm_client *arm = mem_alloc(sizeof *arm);

    *arm = (struct arm_client){loop, config, transport, credential};
    return arm;
}

void arm_client_free(struct arm_client *arm)
{
    free(arm);
}

const struct azure_config *arm_client_config(const struct arm_client *arm)
{
    return arm->config;
}

struct loop *arm_client_loop(const struct arm_client *arm)
{
    return arm->loop;
}

void arm_operation_fini(struct arm_operation *operation)
{
    free(operation->url);
    *operation = (struct arm_operation){0};
}

/* ---- one exchange ---- */

static struct err *attempt(struct task *self, struct arm_client *arm, const char *method,
                           const char *url, const char *body, struct http_response *ret)
{
    CLEANUP(freep) char *authorization = NULL;

    TRY(credential_get(self, arm->credential, &authorization));
    struct http_header headers[] = {
        {"Authorization", authorization},
        {"Accept", "application/json"},
        {"Content-Type", "application/json"},
    };
    return http_exchange(self, arm->transport,
                         &(struct http_request){
                             .method = method,
                             .url = url,
                             .headers = headers,
                             .n_headers = body ? 3 : 2,
                             .body = body,
                             .body_length = body ? strlen(body) : 0,
                             .deadline = loop_now(arm->loop) + REQUEST_TIMEOUT_MS,
                             .max_response = LARGEST_ANSWER,
                         },
                         ret);
}

/* An empty body is no document, and an error page of a gateway is none either. */
static struct err *document_of(struct task *self, const struct http_response *response,
                               json_t **ret_json)
{
    struct err *err = NULL;

    *ret_json = NULL;
    if (response->body_length > 0)
        err = json_parse(self, response->body, response->body_length, ret_json);
    if (response->status >= 400) {
        err_free(err);
        return arm_error(response, *ret_json);
    }
    return err;
}

static struct err *perform(struct task *self, struct arm_client *arm, const char *method,
                           const char *url, const char *body, struct http_response *response,
                           json_t **ret_json)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(attempt(self, arm, method, url, body, response));
    if (response->status == 401) {
        credential_reject(arm->credential);
        http_response_fini(response);
        TRY(attempt(self, arm, method, url, body, response));
    }
    TRY(document_of(self, response, &json));
    *ret_json = TAKE_PTR(json);
    return NULL;
}

/* ---- a cloud that is known by its Resource Manager only ---- */

static struct err *take_endpoints(struct azure_config *config, const json_t *json)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const ProtobufCMessage *decoded;

    TRY(json_decode(&arm__cloud_endpoints__descriptor, json_array_get(json, 0), arena, &decoded));
    const Arm__CloudEndpoints *endpoints = (const Arm__CloudEndpoints *)decoded;
    const Arm__CloudAuthentication *authentication = endpoints->authentication;
    if (!authentication || !authentication->login_endpoint || !authentication->n_audiences)
        return err_new(ERR_INTERNAL, "the cloud's end points lack authentication");

    config->authority = mem_strdup(authentication->login_endpoint);
    for (size_t n = strlen(config->authority); n && config->authority[n - 1] == '/'; n--)
        config->authority[n - 1] = '\0';
    config->audience = mem_strdup(authentication->audiences[0]);
    config->discover = false;
    return NULL;
}

static struct err *discover(struct task *self, struct arm_client *arm)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(freep) char *url = mem_printf("%s" ENDPOINTS_PATH, arm->config->resource_manager);

    if (!arm->config->discover)
        return NULL;
    TRY(http_exchange(
        self, arm->transport,
        &(struct http_request){.url = url, .deadline = loop_now(arm->loop) + REQUEST_TIMEOUT_MS},
        &response));
    TRY(document_of(self, &response, &json));
    if (!arm->config->discover)
        return NULL; /* somebody else was faster */
    struct err *err = take_endpoints(arm->config, json);
    return err ? err_wrap(err, "GET %s", url) : NULL;
}

/* ---- requests ---- */

static uint64_t retry_after_ms(const struct http_response *response)
{
    const char *header = http_header_find(response->headers, response->n_headers, "Retry-After");

    return header ? strtoull(header, NULL, 10) * 1000 : 0;
}

static void take_operation(const struct http_response *response, struct arm_operation *ret)
{
    static const char *const headers[] = {"Azure-AsyncOperation", "Operation-Location"};
    const char *url = NULL;

    for (size_t i = 0; !url && i < COUNT_OF(headers); i++)
        url = http_header_find(response->headers, response->n_headers, headers[i]);
    *ret = (struct arm_operation){mem_strdup(url), retry_after_ms(response)};
}

struct err *arm_client_request(struct task *self, struct arm_client *arm, const char *method,
                               const char *path, const char *api_version, const json_t *body,
                               json_t **ret_json, struct arm_operation *ret_operation)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(freep) char *text = body ? json_to_text(body) : NULL;
    CLEANUP(freep)
    char *url = strstr(path, "api-version=")
                    ? mem_printf("%s%s", arm->config->resource_manager, path)
                    : mem_printf("%s%s%sapi-version=%s", arm->config->resource_manager, path,
                                 strchr(path, '?') ? "&" : "?", api_version);

    TRY(discover(self, arm));
    struct err *err = perform(self, arm, method, url, text, &response, &json);
    if (err)
        return err_wrap(err, "%s %.*s", method, (int)strcspn(path, "?"), path);
    if (ret_operation)
        take_operation(&response, ret_operation);
    if (ret_json)
        *ret_json = TAKE_PTR(json);
    return NULL;
}

struct err *arm_client_get(struct task *self, struct arm_client *arm, const char *path,
                           const char *api_version, const ProtobufCMessageDescriptor *type,
                           struct arena *arena, const ProtobufCMessage **ret)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(arm_client_request(self, arm, "GET", path, api_version, NULL, &json, NULL));
    struct err *err = json_decode(type, json, arena, ret);
    return err ? err_wrap(err, "GET %s", path) : NULL;
}

/* ---- operations ---- */

static const struct {
    const char *status;
    bool success;
} ends[] = {{"Succeeded", true},
            {"Completed", true},
            {"Failed", false},
            {"Canceled", false},
            {"Cancelled", false}};

/* Whether the operation has ended, and then its error. Words that are not known mean that it has
 * not. */
static struct err *interpret(const json_t *json, bool *ret_ended)
{
    const char *status = json_string_value(json_object_get(json, "status"));

    *ret_ended = false;
    if (!status)
        return err_new(ERR_INTERNAL, "an operation without a status");
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        if (strcasecmp(ends[i].status, status) != 0)
            continue;
        *ret_ended = true;
        return ends[i].success ? NULL : arm_operation_error(json_object_get(json, "error"));
    }
    return NULL;
}

static uint64_t next_pause(uint64_t pause, uint64_t retry_after)
{
    pause = pause ? pause * 3 / 2 : POLL_LEAST_MS;
    if (pause > POLL_MOST_MS)
        pause = POLL_MOST_MS;
    return retry_after ? retry_after : pause;
}

/* One look at the operation. What cannot be read now may be read later: the operation goes on
 * whether we look or not. */
static struct err *poll(struct task *self, struct arm_client *arm, const char *url,
                        unsigned *failures, uint64_t *ret_retry_after, bool *ret_ended)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *json = NULL;
    struct err *err = perform(self, arm, "GET", url, NULL, &response, &json);

    *ret_retry_after = retry_after_ms(&response);
    if (!err) {
        *failures = 0;
        return interpret(json, ret_ended);
    }
    if (err_kind(err) == ERR_THROTTLED)
        *ret_retry_after = err_retry_after_ms(err);
    else if (err_kind(err) == ERR_CANCELED || ++*failures == POLL_FAILURES)
        return err;
    err_free(err);
    return NULL;
}

struct err *arm_operation_wait(struct task *self, struct arm_client *arm,
                               const struct arm_operation *operation)
{
    uint64_t retry_after = operation->retry_after_ms, pause = 0;
    unsigned failures = 0;
    bool ended = operation->url == NULL;
    const char *home = arm->config->resource_manager;

    /* A credential goes to Resource Manager and nowhere else. */
    if (!ended && strncasecmp(operation->url, home, strlen(home)) != 0)
        return err_new(ERR_INTERNAL, "the operation is to be followed outside of %s", home);
    while (!ended) {
        pause = next_pause(pause, retry_after);
        TRY(task_sleep(self, pause));
        TRY(poll(self, arm, operation->url, &failures, &retry_after, &ended));
    }
    return NULL;
}
