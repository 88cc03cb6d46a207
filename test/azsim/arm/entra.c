#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/form.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/arm/token.h"

enum { LIFETIME_S = 3599 };

/* Refusals of the token end point are of another form than ARM's: OAuth's, with Entra's numbers. */
#define UNKNOWN_TENANT 400, "invalid_request", 90002
#define UNKNOWN_CLIENT 400, "unauthorized_client", 700016
#define WRONG_SECRET 401, "invalid_client", 7000215
#define NO_CREDENTIAL 401, "invalid_client", 7000216
#define UNKNOWN_GRANT 400, "unsupported_grant_type", 70003
#define NO_PARAMETER 400, "invalid_request", 900144
#define WRONG_SCOPE 400, "invalid_scope", 70011

static void answer_error(struct exchange *exchange, int status, const char *error, int number,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));

static void answer_error(struct exchange *exchange, int status, const char *error, int number,
                         const char *format, ...)
{
    struct random *random = loop_random(exchange->model->loop);
    time_t now = (time_t)(model_now_us(exchange->model) / 1000000);
    char trace[UUID_SIZE], correlation[UUID_SIZE], stamp[AZURE_TIME_SIZE];
    struct tm tm;
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *text = mem_vprintf(format, args);
    va_end(args);
    random_uuid(random, trace);
    random_uuid(random, correlation);
    gmtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%SZ", &tm);
    answer(exchange, status,
           json_pack("{s:s, s:o, s:[i], s:s, s:s, s:s, s:o}", "error", error, "error_description",
                     json_sprintf("AADSTS%d: %s Trace ID: %s Correlation ID: %s Timestamp: %s",
                                  number, text, trace, correlation, stamp),
                     "error_codes", number, "timestamp", stamp, "trace_id", trace, "correlation_id",
                     correlation, "error_uri",
                     json_sprintf("https://login.microsoftonline.com/error?code=%d", number)));
}

static bool tenant_is_known(struct exchange *exchange)
{
    const char *tenant = exchange->match.tenant;

    if (strcasecmp(tenant, exchange->model->tenant_id) == 0)
        return true;
    answer_error(exchange, UNKNOWN_TENANT,
                 "Tenant '%s' not found. Check to make sure you have the correct tenant ID and are "
                 "signing into the correct cloud.",
                 tenant);
    return false;
}

static const struct arm_client *find_client(const struct exchange *exchange, const char *id)
{
    for (size_t i = 0; i < exchange->config->n_clients; i++)
        if (strcasecmp(exchange->config->clients[i].id, id) == 0)
            return &exchange->config->clients[i];
    return NULL;
}

/* The form has what every request has, and the client proves who it is. */
static bool client_is_good(struct exchange *exchange, const struct form *form)
{
    static const char *const needed[] = {"grant_type", "client_id", "scope"};
    const char *secret = form_get(form, "client_secret");

    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (!form_get(form, needed[i])) {
            answer_error(exchange, NO_PARAMETER,
                         "The request body must contain the following parameter: '%s'.", needed[i]);
            return false;
        }
    if (strcmp(form_get(form, "grant_type"), "client_credentials") != 0) {
        answer_error(exchange, UNKNOWN_GRANT, "The app requested an unsupported grant type '%s'.",
                     form_get(form, "grant_type"));
        return false;
    }
    const struct arm_client *client = find_client(exchange, form_get(form, "client_id"));
    if (!client) {
        answer_error(exchange, UNKNOWN_CLIENT,
                     "Application with identifier '%s' was not found in the directory '%s'. This "
                     "can happen if the application has not been installed by the administrator of "
                     "the tenant or consented to by any user in the tenant.",
                     form_get(form, "client_id"), exchange->model->tenant_id);
        return false;
    }
    if (!secret) {
        answer_error(exchange, NO_CREDENTIAL,
                     "'client_assertion', 'client_secret' or 'request' is required for the "
                     "'client_credentials' grant type.");
        return false;
    }
    if (strcmp(secret, client->secret) == 0)
        return true;
    answer_error(exchange, WRONG_SECRET,
                 "Invalid client secret provided. Ensure the secret being sent in the request is "
                 "the client secret value, not the client secret ID, for a secret added to app "
                 "'%s'.",
                 client->id);
    return false;
}

/* The resource of the first word of a scope that ends in "/.default"; NULL if there is none. */
static char *audience_of(const char *scope)
{
    static const char suffix[] = "/.default";
    size_t length = strcspn(scope, " ");

    if (length <= strlen(suffix) ||
        strncmp(scope + length - strlen(suffix), suffix, strlen(suffix)) != 0)
        return NULL;
    return mem_strndup(scope, length - strlen(suffix));
}

void entra_token(struct exchange *exchange)
{
    CLEANUP(form_finip) struct form form;

    form_read(&form, exchange->call->body);
    if (!tenant_is_known(exchange) || !client_is_good(exchange, &form))
        return;
    CLEANUP(freep) char *audience = audience_of(form_get(&form, "scope"));
    if (!audience) {
        answer_error(exchange, WRONG_SCOPE,
                     "The provided request must include a 'scope' input parameter. The scope '%s' "
                     "is not valid: it has to end in '/.default'.",
                     form_get(&form, "scope"));
        return;
    }
    unsigned lifetime =
        exchange->config->token_lifetime_s ? exchange->config->token_lifetime_s : LIFETIME_S;
    int64_t now = model_now_us(exchange->model) / 1000000;
    exchange->principal = mem_strdup(form_get(&form, "client_id"));
    struct token token = {.tenant = exchange->model->tenant_id,
                          .audience = audience,
                          .client_id = exchange->principal,
                          .issued = now,
                          .expires = now + lifetime};
    CLEANUP(freep) char *text = token_write(&exchange->config->key, &token);
    answer(exchange, 200,
           json_pack("{s:s, s:i, s:i, s:s}", "token_type", "Bearer", "expires_in", (int)lifetime,
                     "ext_expires_in", (int)lifetime, "access_token", text));
}

void entra_openid_configuration(struct exchange *exchange)
{
    CLEANUP(freep) char *base = exchange_base(exchange);
    const char *tenant = exchange->model->tenant_id;

    if (!tenant_is_known(exchange))
        return;
    answer(exchange, 200,
           json_pack("{s:o, s:[s,s,s], s:o, s:[s], s:o, s:s, s:s}", "token_endpoint",
                     json_sprintf("%s/%s/oauth2/v2.0/token", base, tenant),
                     "token_endpoint_auth_methods_supported", "client_secret_post",
                     "private_key_jwt", "client_secret_basic", "issuer",
                     json_sprintf("%s/%s/v2.0", base, tenant), "response_types_supported", "code",
                     "authorization_endpoint",
                     json_sprintf("%s/%s/oauth2/v2.0/authorize", base, tenant),
                     "tenant_region_scope", "NA", "cloud_instance_name", "microsoftonline.com"));
}

void entra_instance_discovery(struct exchange *exchange)
{
    CLEANUP(freep) char *base = exchange_base(exchange);
    const char *host = base + strlen("https://");

    answer(exchange, 200,
           json_pack("{s:o, s:s, s:[{s:s, s:s, s:[s]}]}", "tenant_discovery_endpoint",
                     json_sprintf("%s/%s/v2.0/.well-known/openid-configuration", base,
                                  exchange->model->tenant_id),
                     "api-version", "1.1", "metadata", "preferred_network", host, "preferred_cache",
                     host, "aliases", host));
}

/* What a client of an unusual cloud asks first: where everything is. */
void metadata_endpoints(struct exchange *exchange)
{
    CLEANUP(freep) char *base = exchange_base(exchange);

    if (!*exchange->api_version) {
        answer_refusal(exchange, refuse(400, "MissingApiVersionParameter", NULL,
                                        "The api-version query parameter (?api-version=) is "
                                        "required for all requests."));
        return;
    }
    answer(exchange, 200,
           json_pack("[{s:s, s:s, s:{s:[s], s:s, s:s, s:s}, s:{s:s, s:s}}]", "name", "AzureCloud",
                     "resourceManager", base, "authentication", "audiences", base, "loginEndpoint",
                     base, "identityProvider", "AAD", "tenant", "common", "suffixes", "storage",
                     "core.windows.net", "acrLoginServer", "azurecr.io"));
}
