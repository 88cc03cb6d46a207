#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/utf8.h"
#include "test/azsim/arm/entra_client.h"
#include "test/azsim/arm/form.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/arm/token.h"

enum { LIFETIME_S = 3599 };

/* Since when /metadata/endpoints is a list of clouds. */
#define ENDPOINTS_ARE_A_LIST_SINCE "2018-05-01"

static bool tenant_is_known(struct exchange *exchange)
{
    const char *tenant = exchange->match.tenant;

    if (strcasecmp(tenant, exchange->model->tenant_id) == 0)
        return true;
    entra_refuse(exchange, UNKNOWN_TENANT,
                 "Tenant '%s' not found. Check to make sure you have the correct tenant ID and are "
                 "signing into the correct cloud.",
                 tenant);
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

/* A token for that audience; its text is the caller's. */
static char *issue(struct exchange *exchange, const struct form *form, const char *audience,
                   struct token *ret)
{
    unsigned lifetime =
        exchange->config->token_lifetime_s ? exchange->config->token_lifetime_s : LIFETIME_S;
    int64_t now = model_now_us(exchange->model) / 1000000;

    exchange->principal = mem_strdup(form_get(form, "client_id"));
    *ret = (struct token){.tenant = exchange->model->tenant_id,
                          .audience = audience,
                          .client_id = exchange->principal,
                          .issued = now,
                          .expires = now + lifetime};
    return token_write(&exchange->config->key, ret);
}

void entra_token(struct exchange *exchange)
{
    static const char *const needed[] = {"grant_type", "client_id", "scope", NULL};
    CLEANUP(form_finip) struct form form;
    struct token token;

    form_read(&form, exchange->call->body);
    if (!tenant_is_known(exchange) || !entra_client_is_good(exchange, &form, needed))
        return;
    CLEANUP(freep) char *audience = audience_of(form_get(&form, "scope"));
    if (!audience) {
        entra_refuse(exchange, WRONG_SCOPE,
                     "The provided request must include a 'scope' input parameter. The scope '%s' "
                     "is not valid: it has to end in '/.default'.",
                     form_get(&form, "scope"));
        return;
    }
    CLEANUP(freep) char *text = issue(exchange, &form, audience, &token);
    int lifetime = (int)(token.expires - token.issued);
    answer(exchange, 200,
           json_pack("{s:s, s:i, s:i, s:s}", "token_type", "Bearer", "expires_in", lifetime,
                     "ext_expires_in", lifetime, "access_token", text));
}

/* The older end point: for a resource and not a scope, and its numbers are strings. */
void entra_token_v1(struct exchange *exchange)
{
    static const char *const needed[] = {"grant_type", "client_id", NULL};
    CLEANUP(form_finip) struct form form;
    struct token token;

    form_read(&form, exchange->call->body);
    if (!tenant_is_known(exchange) || !entra_client_is_good(exchange, &form, needed))
        return;
    CLEANUP(freep) char *resource = mem_strdup(form_get(&form, "resource"));
    if (!resource) {
        entra_refuse(exchange, NO_RESOURCE, "Resource identifier is not provided.");
        return;
    }
    utf8_repair(resource);
    CLEANUP(freep) char *text = issue(exchange, &form, resource, &token);
    json_t *lifetime = json_sprintf("%lld", (long long)(token.expires - token.issued));
    answer(exchange, 200,
           json_pack("{s:s, s:o, s:O, s:o, s:o, s:s, s:s}", "token_type", "Bearer", "expires_in",
                     lifetime, "ext_expires_in", lifetime, "expires_on",
                     json_sprintf("%lld", (long long)token.expires), "not_before",
                     json_sprintf("%lld", (long long)token.issued), "resource", resource,
                     "access_token", text));
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

/* As Azure Stack has it, and what is left of it in Azure: for go-autorest, which asks for
 * api-version 1.0, and for scripts, which ask for 2015-01-01. */
static json_t *old_endpoints_json(const char *base)
{
    return json_pack("{s:s, s:s, s:s, s:{s:o, s:[s]}}", "galleryEndpoint",
                     "https://gallery.azure.com/", "graphEndpoint", "https://graph.windows.net/",
                     "portalEndpoint", "https://portal.azure.com/", "authentication",
                     "loginEndpoint", json_sprintf("%s/", base), "audiences", base);
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
    if (strcmp(exchange->api_version, ENDPOINTS_ARE_A_LIST_SINCE) < 0) {
        answer(exchange, 200, old_endpoints_json(base));
        return;
    }
    answer(exchange, 200,
           json_pack("[{s:s, s:s, s:{s:[s], s:s, s:s, s:s}, s:{s:s, s:s}}]", "name", "AzureCloud",
                     "resourceManager", base, "authentication", "audiences", base, "loginEndpoint",
                     base, "identityProvider", "AAD", "tenant", "common", "suffixes", "storage",
                     "core.windows.net", "acrLoginServer", "azurecr.io"));
}
