#include "provisioner-lib/azure/token_request.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/file.h"
#include "lib/base/secret.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"
#include "lib/rt/backoff.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/azure/arm_error.h"
#include "provisioner-lib/azure/client_assertion.h"

#define METADATA_TOKEN_URL "http://169.254.169.254/metadata/identity/oauth2/token"
#define ASSERTION_TYPE "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
/* We can answer a demand for claims, so Entra ID may give tokens that last a day. */
#define CAPABILITIES "{\"access_token\":{\"xms_cc\":{\"values\":[\"CP1\"]}}}"

enum {
    TIMEOUT_MS = 30 * 1000,
    METADATA_FOR_MS = 70 * 1000, /* the service may be away so long while it is updated */
    METADATA_LEAST_MS = 2 * 1000,
    METADATA_MOST_MS = 25 * 1000,
    RENEW_BEFORE_MS = 5 * 60 * 1000,
    LONG_LIVED_MS = 2 * 60 * 60 * 1000,
    LONGEST_LIVED_S = 28 * 60 * 60, /* Entra ID's longest */
    LONGEST_URL = 4096,
    LONGEST_FORM = 256 * 1024,
    LONGEST_TOKEN = 64 * 1024,
    LARGEST_TOKEN_FILE = 32 * 1024,
};

/* ---- Entra ID ---- */

static void add(struct buffer *out, const char *separator, const char *name, const char *value)
{
    CLEANUP(secret_freep) char *escaped = http_escape(value);

    buffer_printf(out, "%s%s=%s", separator, name, escaped);
}

static struct err *add_assertion(struct buffer *form, char *assertion)
{
    CLEANUP(secret_freep) char *owned = assertion;

    add(form, "&", "client_assertion_type", ASSERTION_TYPE);
    add(form, "&", "client_assertion", owned);
    return NULL;
}

/* kubelet replaces the file before its token ends. */
static struct err *prove_by_workload(const struct azure_config *config, struct buffer *form)
{
    char *text;
    size_t length;

    TRY(file_read(config->token_file, LARGEST_TOKEN_FILE, &text, &length));
    while (length && strchr("\r\n\t ", text[length - 1]))
        text[--length] = '\0';
    if (length)
        return add_assertion(form, text);
    free(text);
    return err_new(ERR_UNAVAILABLE, "%s: the file is empty", config->token_file);
}

static struct err *prove_by_certificate(struct task *self, const struct azure_config *config,
                                        const char *url, struct buffer *form)
{
    struct loop *loop = loop_of(self);
    char id[UUID_SIZE], *assertion;

    random_uuid(loop_random(loop), id);
    TRY(client_assertion_make(self,
                              &(struct client_assertion){
                                  .file = config->certificate_file,
                                  .password = config->certificate_password,
                                  .client_id = config->client_id,
                                  .audience = url,
                                  .id = id,
                                  .now_s = loop_wall_us(loop) / 1000000,
                              },
                              &assertion));
    return add_assertion(form, assertion);
}

static struct err *prove(struct task *self, const struct azure_config *config, const char *url,
                         struct buffer *form)
{
    switch (config->identity) {
    case AZURE_CLIENT_SECRET:
        add(form, "&", "client_secret", config->client_secret);
        return NULL;
    case AZURE_CLIENT_CERTIFICATE:
        return prove_by_certificate(self, config, url, form);
    case AZURE_WORKLOAD_IDENTITY:
        return prove_by_workload(config, form);
    case AZURE_MANAGED_IDENTITY:
        break;
    }
    abort();
}

/* What cannot be read demands nothing. */
static void add_claims(struct task *self, struct buffer *form, const char *demanded)
{
    CLEANUP(json_decrefp) json_t *claims = json_loads(CAPABILITIES, 0, NULL);
    CLEANUP(json_decrefp) json_t *more = NULL;

    if (demanded)
        err_free(json_parse(self, demanded, strlen(demanded), &more));
    if (json_is_object(more))
        json_object_update_recursive(claims, more);
    CLEANUP(freep) char *text = json_to_text(claims);
    add(form, "&", "claims", text);
}

static struct err *ask_entra(struct task *self, const struct token_source *source,
                             const char *claims, struct http_response *ret)
{
    const struct azure_config *config = source->config;
    static const struct http_header headers[] = {
        {"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}};
    CLEANUP(freep)
    char *url = mem_printf("%s/%s/oauth2/v2.0/token", config->authority, config->tenant);
    CLEANUP(freep) char *scope = mem_printf("%s/.default", config->audience);
    CLEANUP(buffer_fini) struct buffer form = {.limit = LONGEST_FORM};

    add(&form, "", "grant_type", "client_credentials");
    add(&form, "&", "client_id", config->client_id);
    add(&form, "&", "scope", scope);
    add_claims(self, &form, claims);
    TRY(prove(self, config, url, &form));
    return http_exchange(self, source->entra,
                         &(struct http_request){
                             .method = "POST",
                             .changes_nothing = true,
                             .url = url,
                             .headers = headers,
                             .n_headers = COUNT_OF(headers),
                             .body = form.data,
                             .body_length = form.length,
                             .deadline = loop_now(loop_of(self)) + TIMEOUT_MS,
                         },
                         ret);
}

/* ---- the metadata service ---- */

static struct err *ask_metadata_once(struct task *self, const struct token_source *source,
                                     struct http_response *ret)
{
    const char *identity = source->config->user_assigned;
    static const struct http_header headers[] = {{"Metadata", "true"}};
    CLEANUP(buffer_fini) struct buffer url = {.limit = LONGEST_URL};

    buffer_printf(&url, METADATA_TOKEN_URL);
    add(&url, "?", "api-version", "2018-02-01");
    add(&url, "&", "resource", source->config->audience);
    if (identity)
        add(&url, "&",
            identity[0] == '/'     ? "msi_res_id"
            : source->by_object_id ? "object_id"
                                   : "client_id",
            identity);
    return http_exchange(self, source->metadata,
                         &(struct http_request){
                             .url = url.data,
                             .headers = headers,
                             .n_headers = COUNT_OF(headers),
                             .deadline = loop_now(loop_of(self)) + TIMEOUT_MS,
                         },
                         ret);
}

static bool may_pass(int status)
{
    return status == 404 || status == 410 || status == 429 || status >= 500;
}

/* A UUID may be of a client or of an object; the service knows which. */
static struct err *ask_metadata_for_either(struct task *self, struct token_source *source,
                                           struct http_response *ret)
{
    CLEANUP(http_response_finip) struct http_response other = {0};
    const char *identity = source->config->user_assigned;

    TRY(ask_metadata_once(self, source, ret));
    if (ret->status != 400 || !identity || identity[0] == '/')
        return NULL;
    source->by_object_id = !source->by_object_id;
    TRY(ask_metadata_once(self, source, &other));
    if (other.status == 400) {
        source->by_object_id = !source->by_object_id;
        return NULL;
    }
    struct http_response refused = *ret;
    *ret = other;
    other = refused;
    return NULL;
}

static struct err *ask_metadata(struct task *self, struct token_source *source,
                                struct http_response *ret)
{
    struct backoff backoff = {.least_ms = METADATA_LEAST_MS, .most_ms = METADATA_MOST_MS};
    struct loop *loop = loop_of(self);
    uint64_t end = loop_now(loop) + METADATA_FOR_MS;

    for (;;) {
        TRY(ask_metadata_for_either(self, source, ret));
        uint64_t pause = backoff_next(&backoff, loop_random(loop));
        uint64_t asked = arm_retry_after_ms(ret, loop_wall_us(loop));

        if (asked > pause)
            pause = asked;
        if (!may_pass(ret->status) || loop_now(loop) + pause > end)
            return NULL;
        http_response_fini(ret);
        *ret = (struct http_response){0};
        TRY(task_sleep(self, pause));
    }
}

/* ---- the answer ---- */

/* "AADSTS700016: Application ... was not found. Trace ID: ...": what comes last is another each
 * time, and a message that changes looks like news. */
static int lasting_length(const char *text)
{
    size_t length = strcspn(text, "\r\n");
    const char *trace = strstr(text, " Trace ID: ");

    return (int)(trace && (size_t)(trace - text) < length ? (size_t)(trace - text) : length);
}

static struct err *refused(const struct http_response *response, const json_t *json, int64_t now_us)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const Arm__TokenError *error = NULL;
    const ProtobufCMessage *decoded = NULL;

    if (json)
        err_free(json_decode(&arm__token_error__descriptor, json, arena, &decoded));
    error = (const Arm__TokenError *)decoded;
    const char *text =
        error && error->error__description ? error->error__description : "no reason given";
    int status = response->status, length = lasting_length(text);
    CLEANUP(freep) char *code = mem_strdup(error ? error->error : NULL);
    if (strncmp(text, "AADSTS", 6) == 0) {
        free(code);
        code = mem_strndup(text, strcspn(text, ":"));
    }
    bool passes = may_pass(status) || strncmp(text, "AADSTS90033:", 12) == 0;
    struct err *err = status == 429
                          ? err_throttled(arm_retry_after_ms(response, now_us),
                                          "no token: %.*s (HTTP %d)", length, text, status)
                          : err_new(passes ? ERR_UNAVAILABLE : ERR_DENIED,
                                    "no token: %.*s (HTTP %d)", length, text, status);
    return code ? err_with_code(err, code) : err;
}

/* A number, or the same as text; what is longer than any token lasts is a mistake. 0: it is no
 * number, or none that is left. */
static uint64_t milliseconds_of(const ProtobufCBinaryData *json)
{
    const char *text = json->data ? (const char *)json->data : "";
    int64_t seconds = strtoll(text + (text[0] == '"'), NULL, 10);

    seconds = seconds < LONGEST_LIVED_S ? seconds : LONGEST_LIVED_S;
    return seconds > 0 ? (uint64_t)seconds * 1000 : 0;
}

/* Not too late, and not too often: five minutes before its end, or as soon as Entra ID says; long
 * ones after half of their time. */
static uint64_t renewal(uint64_t lasts, uint64_t refresh)
{
    if (refresh > 0 && refresh < lasts)
        return refresh;
    return lasts >= LONG_LIVED_MS || lasts <= 2 * RENEW_BEFORE_MS ? lasts / 2
                                                                  : lasts - RENEW_BEFORE_MS;
}

static struct err *take_token(const json_t *json, struct token *ret)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const ProtobufCMessage *decoded;

    TRY(json_decode(&arm__token__descriptor, json, arena, &decoded));
    const Arm__Token *token = (const Arm__Token *)decoded;
    if (!token->access__token || !token->has_expires__in)
        return err_new(ERR_INTERNAL, "access_token or expires_in is missing");
    CLEANUP(buffer_fini) struct buffer authorization = {.limit = LONGEST_TOKEN};
    uint64_t lasts = milliseconds_of(&token->expires__in);
    size_t length = strlen(token->access__token);
    /* It would be asked for again at once, and nobody would ever get one. */
    if (lasts == 0)
        return err_new(ERR_INTERNAL, "the token has ended already, by its expires_in");
    if (length >= LONGEST_TOKEN / 2)
        return err_new(ERR_INTERNAL, "the token is too long (%zu bytes)", length);
    buffer_printf(&authorization, "Bearer %s", token->access__token);
    *ret = (struct token){
        .authorization = buffer_take(&authorization),
        .lasts_ms = lasts,
        .renew_ms = renewal(lasts, milliseconds_of(&token->refresh__in)),
    };
    return NULL;
}

struct err *token_request(struct task *self, struct token_source *source, const char *claims,
                          struct token *ret)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(source->config->identity == AZURE_MANAGED_IDENTITY
            ? ask_metadata(self, source, &response)
            : ask_entra(self, source, claims, &response));
    struct err *err = json_parse(self, response.body, response.body_length, &json);
    if (response.status != 200) {
        err_free(err);
        return refused(&response, json, loop_wall_us(loop_of(self)));
    }
    if (!err)
        err = take_token(json, ret);
    return err ? err_wrap(err_as(err, ERR_UNAVAILABLE), "reading the answer to the token request")
               : NULL;
}
