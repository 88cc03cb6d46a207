#include "test/azsim/arm/gateway.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/charge.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/arm/token.h"
#include "test/azsim/model/group.h"

/* Since when VMs attach and detach disks by an action. */
#define ATTACH_DETACH_SINCE "2023-09-01"

/* clang-format off */
#define NO_AUTHORIZATION 401, "AuthenticationFailed", NULL, \
    "Authentication failed. The 'Authorization' header is missing."
#define NOT_BEARER 401, "AuthenticationFailedInvalidHeader", NULL, \
    "Authentication failed. The 'Authorization' header is provided in an invalid format."
#define TOKEN_INVALID 401, "InvalidAuthenticationToken", NULL, "The access token is invalid."
#define TOKEN_EXPIRED 401, "ExpiredAuthenticationToken", NULL, \
    "The access token expiry UTC time '%s' is earlier than current UTC time '%s'."
#define TOKEN_AUDIENCE 401, "InvalidAuthenticationTokenAudience", NULL, \
    "The access token has been obtained for wrong audience or resource '%s'. It should exactly " \
    "match with one of the allowed audiences '%s/','%s','https://management.core.windows.net/'," \
    "'https://management.core.windows.net','https://management.azure.com/'," \
    "'https://management.azure.com'."
#define TOKEN_TENANT 401, "InvalidAuthenticationTokenTenant", NULL, \
    "The access token is from the wrong issuer 'https://sts.windows.net/%s/'. It must match the " \
    "tenant 'https://sts.windows.net/%s/' associated with this subscription."
#define NO_API_VERSION 400, "MissingApiVersionParameter", NULL, \
    "The api-version query parameter (?api-version=) is required for all requests."
#define API_VERSION_INVALID 400, "InvalidApiVersionParameter", NULL, \
    "The api-version '%s' is invalid. It has the form YYYY-MM-DD, with '-preview' behind it or not."
#define SUBSCRIPTION_MALFORMED 400, "InvalidSubscriptionId", NULL, \
    "The provided subscription identifier '%s' is malformed or invalid."
#define SUBSCRIPTION_NOT_FOUND 404, "SubscriptionNotFound", NULL, \
    "The subscription '%s' could not be found."
#define NO_SUBSCRIPTION 404, "MissingSubscription", NULL, \
    "The request did not have a subscription or a valid tenant level resource provider."
#define TYPE_INVALID 404, "InvalidResourceType", NULL, \
    "The resource type '%s' could not be found in the namespace 'Microsoft.Compute' for api " \
    "version '%s'."
#define NO_PROVIDER_THERE 400, "NoRegisteredProviderFound", NULL, \
    "No registered resource provider found for location '%s' and API version '%s' for type " \
    "'locations/%s'. The supported locations are '%s'."
#define METHOD_NOT_SUPPORTED 405, "HttpMethodNotSupported", NULL, \
    "The requested resource does not support http method '%s'."
/* clang-format on */

/* ---- tokens ---- */

/* As Azure writes it there: "1/31/2026 1:05:09 PM". */
static void american_time(int64_t seconds, char text[AZURE_TIME_SIZE])
{
    time_t time = (time_t)seconds;
    struct tm tm;

    gmtime_r(&time, &tm);
    snprintf(text, AZURE_TIME_SIZE, "%d/%d/%d %d:%02d:%02d %s", tm.tm_mon + 1, tm.tm_mday,
             tm.tm_year + 1900, tm.tm_hour % 12 ? tm.tm_hour % 12 : 12, tm.tm_min, tm.tm_sec,
             tm.tm_hour < 12 ? "AM" : "PM");
}

static void cut_end(char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    if (length >= end_length && strcmp(text + length - end_length, end) == 0)
        text[length - end_length] = '\0';
}

/* The slash at the end and the usual port make no difference. */
static bool is_audience(const char *audience, const char *url)
{
    CLEANUP(freep) char *given = mem_strdup(audience);
    CLEANUP(freep) char *wanted = mem_strdup(url);

    cut_end(given, "/");
    cut_end(given, ":443");
    cut_end(wanted, ":443");
    return strcasecmp(given, wanted) == 0;
}

static struct refusal *check_token(struct exchange *exchange, const struct token *token)
{
    CLEANUP(freep) char *base = exchange_base(exchange);
    int64_t now = model_now_us(exchange->model) / 1000000;
    char expires[AZURE_TIME_SIZE], current[AZURE_TIME_SIZE];

    if (strcasecmp(token->tenant, exchange->model->tenant_id) != 0)
        return refuse(TOKEN_TENANT, token->tenant, exchange->model->tenant_id);
    if (!is_audience(token->audience, base) &&
        !is_audience(token->audience, "https://management.azure.com") &&
        !is_audience(token->audience, "https://management.core.windows.net"))
        return refuse(TOKEN_AUDIENCE, token->audience, base, base);
    if (token->expires > now)
        return NULL;
    american_time(token->expires, expires);
    american_time(now, current);
    return refuse(TOKEN_EXPIRED, expires, current);
}

static struct refusal *authenticate(struct exchange *exchange)
{
    const char *authorization = exchange_header(exchange, "Authorization");
    CLEANUP(token_finip) struct token token = {0};

    if (!authorization)
        return refuse(NO_AUTHORIZATION);
    if (strncasecmp(authorization, "Bearer ", 7) != 0)
        return refuse(NOT_BEARER);
    if (!token_read(&exchange->config->key, authorization + 7, &token))
        return refuse(TOKEN_INVALID);
    exchange->principal = mem_strdup(token.client_id);
    return check_token(exchange, &token);
}

/* ---- the rest of a request ---- */

/* "2025-04-01", with "-preview" behind it or not. */
static bool is_api_version(const char *text)
{
    static const char form[] = "dddd-dd-dd";

    for (size_t i = 0; i < strlen(form); i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return text[strlen(form)] == '\0' || strcasecmp(text + strlen(form), "-preview") == 0;
}

static struct refusal *check_api_version(const struct exchange *exchange)
{
    if (!*exchange->api_version)
        return refuse(NO_API_VERSION);
    return is_api_version(exchange->api_version)
               ? NULL
               : refuse(API_VERSION_INVALID, exchange->api_version);
}

static bool is_uuid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return true;
}

/* The id of the subscription in the path; NULL if it has none. */
static const char *subscription_id(const struct exchange *exchange)
{
    const struct route_match *match = &exchange->match;

    return match->n_parts >= 2 && strcasecmp(match->parts[0], "subscriptions") == 0
               ? match->parts[1]
               : NULL;
}

static struct refusal *check_subscription(const struct exchange *exchange)
{
    const char *id = subscription_id(exchange);

    if (exchange->subscription || (exchange->route && !exchange->match.subscription))
        return NULL;
    if (!id)
        return refuse(NO_SUBSCRIPTION);
    return is_uuid(id) ? refuse(SUBSCRIPTION_NOT_FOUND, id) : refuse(SUBSCRIPTION_MALFORMED, id);
}

/* What is wrong with a path that no route fits. */
static struct refusal *check_route(const struct exchange *exchange, bool path_known)
{
    const struct route_match *match = &exchange->match;
    size_t i = 2;

    if (exchange->route) {
        bool too_old = strstr(exchange->route->kind, ".attachDetachDataDisks") &&
                       strcmp(exchange->api_version, ATTACH_DETACH_SINCE) < 0;
        return too_old ? refuse(TYPE_INVALID, "virtualMachines/attachDetachDataDisks",
                                exchange->api_version)
                       : NULL;
    }
    if (path_known)
        return refuse(METHOD_NOT_SUPPORTED, exchange->call->method);
    while (i < match->n_parts && strcasecmp(match->parts[i], "providers") != 0)
        i++;
    if (i + 1 >= match->n_parts)
        return refuse(TYPE_INVALID, i > 2 && i <= match->n_parts ? match->parts[i - 1] : "",
                      exchange->api_version);
    if (strcasecmp(match->parts[i + 1], "Microsoft.Compute") != 0)
        return refuse(NAMESPACE_INVALID, match->parts[i + 1]);
    return refuse(TYPE_INVALID, i + 2 < match->n_parts ? match->parts[i + 2] : "",
                  exchange->api_version);
}

static struct refusal *check_location(const struct exchange *exchange)
{
    const char *location = exchange->match.location;

    return location && !model_location_is(exchange->model, location)
               ? refuse(NO_PROVIDER_THERE, location, exchange->api_version,
                        exchange->match.parts[exchange->match.n_parts - 1],
                        exchange->model->location)
               : NULL;
}

/* Reads go on while a group is deleted, and what is deleted anyway may be. */
static bool changes(const struct exchange *exchange)
{
    return exchange->call->method[0] == 'P';
}

static struct refusal *check_group(struct exchange *exchange)
{
    const char *name = exchange->match.group;

    if (!name)
        return NULL;
    exchange->group = model_find_group_of(exchange->model, exchange->subscription, name);
    if (exchange->group)
        return changes(exchange) ? group_check_alive(exchange->group) : NULL;
    REQUIRE(group_check_name(name));
    return exchange->route->handle == groups_put ? NULL : refuse(GROUP_NOT_FOUND, name);
}

struct refusal *gateway_check(struct exchange *exchange, bool path_known)
{
    const char *id = subscription_id(exchange);

    REQUIRE(authenticate(exchange));
    exchange->subscription = id ? model_find_subscription(exchange->model, id) : NULL;
    REQUIRE(charge_caller(exchange));
    REQUIRE(check_api_version(exchange));
    REQUIRE(check_subscription(exchange));
    REQUIRE(check_route(exchange, path_known));
    REQUIRE(check_location(exchange));
    return check_group(exchange);
}
