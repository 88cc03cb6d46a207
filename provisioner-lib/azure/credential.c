#include "provisioner-lib/azure/credential.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/secret.h"
#include "lib/rt/backoff.h"
#include "provisioner-lib/azure/token_request.h"

enum {
    REST_MS = 30 * 1000, /* after a failure, while the old token still holds */
    REST_LEAST_MS = 1000,
    REST_MOST_MS = 60 * 1000,
    LONGEST_CLAIMS = 8 * 1024, /* as base64; it becomes part of a form, which has its limit */
};

/* What went wrong last, for all who come before it is tried again. */
struct failure {
    char *message; /* NULL: nothing did */
    char *code;
    enum err_kind kind;
};

struct credential {
    struct task_group *group;
    struct token_source source;
    char *authorization;           /* with the token; NULL: none */
    uint64_t expires, renew, rest; /* loop_now() times; before `rest` nobody asks */
    char *claims;                  /* demanded of the next token; NULL: none */
    bool asking;
    struct failure failure;
    struct backoff backoff;
    struct waiters answered;
};

struct credential *credential_new(struct task_group *group, const struct azure_config *config,
                                  struct http_transport *entra, struct http_transport *metadata)
{
    struct credential *credential = mem_alloc(sizeof *credential);

    *credential = (struct credential){
        .group = group,
        .source = {config, entra, metadata, false},
        .backoff = {.least_ms = REST_LEAST_MS, .most_ms = REST_MOST_MS},
    };
    waiters_init(&credential->answered);
    return credential;
}

static void forget_failure(struct credential *credential)
{
    free(credential->failure.message);
    free(credential->failure.code);
    credential->failure = (struct failure){0};
}

static void drop_token(struct credential *credential)
{
    secret_drop(TAKE_PTR(credential->authorization));
    credential->expires = credential->renew = 0;
}

void credential_free(struct credential *credential)
{
    if (!credential)
        return;
    drop_token(credential);
    forget_failure(credential);
    free(credential->claims);
    free(credential);
}

static uint64_t now_of(const struct credential *credential)
{
    return loop_now(credential->group->loop);
}

static bool holds(const struct credential *credential)
{
    return credential->authorization && now_of(credential) < credential->expires;
}

/* ---- asking ---- */

static void take_token(struct credential *credential, const struct token *token)
{
    uint64_t now = now_of(credential);

    drop_token(credential);
    forget_failure(credential);
    free(TAKE_PTR(credential->claims));
    credential->authorization = secret_keep(token->authorization);
    secret_free(token->authorization);
    credential->expires = now + token->lasts_ms;
    credential->renew = now + token->renew_ms;
    backoff_reset(&credential->backoff);
}

static void take_failure(struct credential *credential, const struct err *err)
{
    struct random *random = loop_random(credential->group->loop);
    uint64_t rest =
        holds(credential) ? (uint64_t)REST_MS : backoff_next(&credential->backoff, random);

    if (err_retry_after_ms(err) > rest)
        rest = err_retry_after_ms(err);
    forget_failure(credential);
    credential->failure = (struct failure){.message = mem_strdup(err_message(err)),
                                           .code = mem_strdup(err_code(err)),
                                           .kind = err_kind(err)};
    credential->rest = now_of(credential) + rest;
}

static struct err *failure_of(const struct credential *credential)
{
    const struct failure *failure = &credential->failure;

    if (!failure->message)
        return err_new(ERR_CANCELED, "no token: this process is shutting down");
    uint64_t now = now_of(credential);
    uint64_t rest = credential->rest > now ? credential->rest - now : 0;
    struct err *err = failure->kind == ERR_THROTTLED
                          ? err_throttled(rest, "%s", failure->message)
                          : err_new(failure->kind, "%s", failure->message);
    return failure->code ? err_with_code(err, failure->code) : err;
}

/* A task of its own: it goes on when whoever needed the token gives up. */
static void renew(struct task *self, void *arg)
{
    struct credential *credential = arg;
    CLEANUP(freep) char *claims = mem_strdup(credential->claims);
    struct token token;
    CLEANUP(err_freep)
    struct err *err = token_request(self, &credential->source, claims, &token);

    credential->asking = false;
    if (!err)
        take_token(credential, &token);
    else if (err_kind(err) != ERR_CANCELED)
        take_failure(credential, err);
    waiters_wake(&credential->answered);
}

static void begin_if_due(struct credential *credential)
{
    uint64_t now = now_of(credential);

    if (credential->asking || now < credential->renew || now < credential->rest)
        return;
    credential->asking = true;
    if (!group_spawn(credential->group, "token", renew, credential))
        credential->asking = false;
}

struct err *credential_get(struct task *self, struct credential *credential,
                           char **ret_authorization)
{
    begin_if_due(credential);
    while (!holds(credential)) {
        if (!credential->asking)
            return failure_of(credential);
        TRY(wait_for_change(self, &credential->answered, TIMER_NEVER));
        if (!credential->failure.message)
            begin_if_due(credential); /* it was refused before this task had its turn */
    }
    *ret_authorization = mem_strdup(credential->authorization);
    return NULL;
}

/* ---- refused ---- */

/* The text of base64 of either alphabet, padded or not; NULL if it is none. */
static char *decode(const char *text, size_t length)
{
    CLEANUP(freep) char *proper = mem_alloc(length + 4);
    CLEANUP(freep) unsigned char *bytes = mem_alloc(length + 4);
    size_t n = 0;

    for (; n < length && text[n] != '='; n++)
        proper[n] = (char)(text[n] == '-' ? '+' : text[n] == '_' ? '/' : text[n]);
    size_t padding = (4 - n % 4) % 4;
    memset(proper + n, '=', padding);
    int decoded = EVP_DecodeBlock(bytes, (unsigned char *)proper, (int)(n + padding));
    return decoded < (int)padding ? NULL : mem_strndup((char *)bytes, (size_t)decoded - padding);
}

/* WWW-Authenticate: Bearer ..., error="insufficient_claims", claims="eyJ..."
 * What is too long for a challenge demands nothing, as what cannot be read does. */
static char *demanded_claims(const struct http_response *response)
{
    const char *header =
        http_header_find(response->headers, response->n_headers, "WWW-Authenticate");
    const char *claims = header ? strstr(header, "claims=\"") : NULL;

    if (!claims || claims == header || (claims[-1] != ' ' && claims[-1] != ','))
        return NULL;
    claims += strlen("claims=\"");
    size_t length = strcspn(claims, "\"");
    return length <= LONGEST_CLAIMS ? decode(claims, length) : NULL;
}

void credential_refused(struct credential *credential, const char *authorization,
                        const struct http_response *response)
{
    /* The others who had the same token are refused too; the new one is not to suffer for it. */
    if (!credential->authorization || strcmp(authorization, credential->authorization) != 0)
        return;
    drop_token(credential);
    free(credential->claims);
    credential->claims = demanded_claims(response);
}
