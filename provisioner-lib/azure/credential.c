#include "provisioner-lib/azure/credential.h"

#include <stdlib.h>
#include <string.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"

#define METADATA_TOKEN_URL "http://169.254.169.254/metadata/identity/oauth2/token"

enum {
    RENEW_BEFORE_MS = 5 * 60 * 1000,
    RETRY_MS = 30 * 1000, /* between attempts while the old token still holds */
    TIMEOUT_MS = 30 * 1000,
    LONGEST_URL = 4096,
    LONGEST_FORM = 64 * 1024,
};

struct credential {
    struct loop *loop;
    const struct azure_config *config;
    struct http_transport *entra, *metadata;
    char *token;
    uint64_t expires, renew; /* loop_now() times */
    bool asking;
    struct waiters answered;
};

struct credential *credential_new(struct loop *loop, const struct azure_config *config,
                                  struct http_transport *entra, struct http_transport *metadata)
{
    struct credential *credential = mem_alloc(sizeof *credential);

    *credential =
        (struct credential){.loop = loop, .config = config, .entra = entra, .metadata = metadata};
    waiters_init(&credential->answered);
    return credential;
}

void credential_free(struct credential *credential)
{
    if (!credential)
        return;
    credential_reject(credential);
    free(credential);
}

void credential_reject(struct credential *credential)
{
    if (credential->token)
        explicit_bzero(credential->token, strlen(credential->token));
    free(credential->token);
    credential->token = NULL;
    credential->expires = credential->renew = 0;
}

/* ---- asking ---- */

static void add(struct buffer *out, const char *separator, const char *name, const char *value)
{
    CLEANUP(freep) char *escaped = http_escape(value);

    buffer_printf(out, "%s%s=%s", separator, name, escaped);
}

static struct err *ask_entra(struct task *self, struct credential *credential,
                             struct http_response *ret)
{
    const struct azure_config *config = credential->config;
    static const struct http_header headers[] = {
        {"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}};
    CLEANUP(freep)
    char *url = mem_printf("%s/%s/oauth2/v2.0/token", config->authority, config->tenant);
    CLEANUP(freep) char *scope = mem_printf("%s/.default", config->audience);
    CLEANUP(buffer_fini) struct buffer form = {.limit = LONGEST_FORM};

    add(&form, "", "grant_type", "client_credentials");
    add(&form, "&", "client_id", config->client_id);
    add(&form, "&", "client_secret", config->client_secret);
    add(&form, "&", "scope", scope);

    struct err *err = http_exchange(self, credential->entra,
                                    &(struct http_request){
                                        .method = "POST",
                                        .url = url,
                                        .headers = headers,
                                        .n_headers = COUNT_OF(headers),
                                        .body = form.data,
                                        .body_length = form.length,
                                        .deadline = loop_now(credential->loop) + TIMEOUT_MS,
                                    },
                                    ret);
    explicit_bzero(form.data, form.length);
    return err;
}

static struct err *ask_metadata(struct task *self, struct credential *credential,
                                struct http_response *ret)
{
    const char *identity = credential->config->identity;
    static const struct http_header headers[] = {{"Metadata", "true"}};
    CLEANUP(buffer_fini) struct buffer url = {.limit = LONGEST_URL};

    buffer_printf(&url, METADATA_TOKEN_URL);
    add(&url, "?", "api-version", "2018-02-01");
    add(&url, "&", "resource", credential->config->audience);
    if (identity && *identity)
        add(&url, "&", identity[0] == '/' ? "msi_res_id" : "client_id", identity);
    return http_exchange(self, credential->metadata,
                         &(struct http_request){
                             .url = url.data,
                             .headers = headers,
                             .n_headers = COUNT_OF(headers),
                             .deadline = loop_now(credential->loop) + TIMEOUT_MS,
                         },
                         ret);
}

/* ---- the answer ---- */

static struct err *refused(int status, const json_t *json)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const ProtobufCMessage *decoded = NULL;
    const char *text = "no reason given", *code = NULL;

    err_free(json_decode(&arm__token_error__descriptor, json, arena, &decoded));
    if (decoded) {
        const Arm__TokenError *error = (const Arm__TokenError *)decoded;

        text = error->error__description ? error->error__description : text;
        code = error->error;
    }
    enum err_kind kind = status == 429 || status >= 500 || status == 404 || status == 410
                             ? ERR_UNAVAILABLE
                             : ERR_DENIED;
    struct err *err =
        err_new(kind, "no token: %.*s (HTTP %d)", (int)strcspn(text, "\r\n"), text, status);
    return code ? err_with_code(err, code) : err;
}

/* A number, or the same as text. */
static uint64_t seconds_of(const ProtobufCBinaryData *json)
{
    const char *text = (const char *)json->data;

    return json->len && text[0] == '"' ? strtoull(text + 1, NULL, 10) : strtoull(text, NULL, 10);
}

static struct err *take_token(struct credential *credential, const json_t *json)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const ProtobufCMessage *decoded;

    TRY(json_decode(&arm__token__descriptor, json, arena, &decoded));
    const Arm__Token *token = (const Arm__Token *)decoded;
    if (!token->access__token || !token->has_expires__in)
        return err_new(ERR_INTERNAL, "the token's answer lacks access_token or expires_in");

    uint64_t now = loop_now(credential->loop), lasts = seconds_of(&token->expires__in) * 1000;
    credential_reject(credential);
    credential->token = mem_strdup(token->access__token);
    credential->expires = now + lasts;
    credential->renew = now + (lasts > 2 * RENEW_BEFORE_MS ? lasts - RENEW_BEFORE_MS : lasts / 2);
    return NULL;
}

static struct err *ask(struct task *self, struct credential *credential)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(credential->config->managed_identity ? ask_metadata(self, credential, &response)
                                             : ask_entra(self, credential, &response));
    struct err *err = json_parse(self, response.body, response.body_length, &json);
    if (response.status != 200) {
        err_free(err);
        return refused(response.status, json);
    }
    TRY(err);
    return take_token(credential, json);
}

struct err *credential_get(struct task *self, struct credential *credential,
                           char **ret_authorization)
{
    while (credential->asking && loop_now(credential->loop) >= credential->expires)
        TRY(wait_for_change(self, &credential->answered, TIMER_NEVER));

    if (!credential->asking && loop_now(credential->loop) >= credential->renew) {
        credential->asking = true;
        struct err *err = ask(self, credential);
        credential->asking = false;
        waiters_wake(&credential->answered);
        if (err && loop_now(credential->loop) < credential->expires) {
            credential->renew = loop_now(credential->loop) + RETRY_MS;
            err_free(err);
        } else if (err) {
            return err;
        }
    }
    *ret_authorization = mem_printf("Bearer %s", credential->token);
    return NULL;
}
