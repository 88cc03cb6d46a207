#include "test/azsim/arm/entra_client.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/assertion.h"

#define ASSERTION_TYPE "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

#define UNKNOWN_CLIENT 400, "unauthorized_client", 700016
#define WRONG_SECRET 401, "invalid_client", 7000215
#define EXPIRED_SECRET 401, "invalid_client", 7000222
#define NO_CREDENTIAL 401, "invalid_client", 7000216
#define UNKNOWN_GRANT 400, "unsupported_grant_type", 70003
#define NO_PARAMETER 400, "invalid_request", 900144
#define NO_ASSERTION 400, "invalid_request", 50027
#define WRONG_SUBJECT 401, "invalid_client", 700021
#define WRONG_AUDIENCE 401, "invalid_client", 700023
#define WRONG_TIME 401, "invalid_client", 700024
#define WRONG_SIGNATURE 401, "invalid_client", 700027
#define UNKNOWN_ISSUER 401, "invalid_client", 700211
#define UNKNOWN_AUDIENCE 401, "invalid_client", 700212
#define UNKNOWN_SUBJECT 401, "invalid_client", 700213
#define FOREIGN_SIGNATURE 401, "invalid_client", 50013

static inline void key_freep(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

void entra_refuse(struct exchange *exchange, int status, const char *error, int number,
                  const char *format, ...)
{
    struct random *random = loop_random(exchange->model->loop);
    time_t now = (time_t)(model_now_us(exchange->model) / 1000000);
    const char *between = strstr(exchange->call->path, "/v2.0/") ? " " : "\r\n";
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
    answer(
        exchange, status,
        json_pack("{s:s, s:o, s:[i], s:s, s:s, s:s, s:o}", "error", error, "error_description",
                  json_sprintf("AADSTS%d: %s%sTrace ID: %s%sCorrelation ID: %s%sTimestamp: %s",
                               number, text, between, trace, between, correlation, between, stamp),
                  "error_codes", number, "timestamp", stamp, "trace_id", trace, "correlation_id",
                  correlation, "error_uri",
                  json_sprintf("https://login.microsoftonline.com/error?code=%d", number)));
}

/* ---- by a secret ---- */

static bool is(const char *secret, const char *given)
{
    return secret && strcmp(secret, given) == 0;
}

static bool secret_is_good(struct exchange *exchange, const struct arm_client *client,
                           const char *secret)
{
    if (is(client->secret, secret))
        return true;
    if (is(client->expired_secret, secret))
        entra_refuse(exchange, EXPIRED_SECRET,
                     "The provided client secret keys for app '%s' are expired. Visit the Azure "
                     "portal to create new keys for your app, or consider using certificate "
                     "credentials for added security.",
                     client->id);
    else
        entra_refuse(exchange, WRONG_SECRET,
                     "Invalid client secret provided. Ensure the secret being sent in the request "
                     "is the client secret value, not the client secret ID, for a secret added to "
                     "app '%s'.",
                     client->id);
    return false;
}

/* ---- by an assertion ---- */

static bool time_is_good(struct exchange *exchange, const struct assertion *assertion)
{
    if (assertion_is_valid_at(assertion, model_now_us(exchange->model) / 1000000))
        return true;
    entra_refuse(exchange, WRONG_TIME, "Client assertion is not within its valid time range.");
    return false;
}

/* Of either end point, whichever was asked; adal writes its api-version behind it. */
static bool is_token_endpoint(struct exchange *exchange, const struct assertion *assertion)
{
    static const char *const ends[] = {"v2.0/token", "token", "token?api-version=1.0"};
    CLEANUP(freep) char *base = exchange_base(exchange);

    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        CLEANUP(freep)
        char *url = mem_printf("%s/%s/oauth2/%s", base, exchange->match.tenant, ends[i]);

        if (assertion_is_for(assertion, url))
            return true;
    }
    return false;
}

/* The application's own: signed with the key of a certificate that is registered for it. */
static bool own_assertion_is_good(struct exchange *exchange, const struct arm_client *client,
                                  const struct assertion *assertion)
{
    if (strcasecmp(assertion_claim(assertion, "sub"), client->id) != 0) {
        entra_refuse(exchange, WRONG_SUBJECT,
                     "Client assertion application identifier doesn't match 'client_id' "
                     "parameter.");
        return false;
    }
    if (!is_token_endpoint(exchange, assertion)) {
        entra_refuse(exchange, WRONG_AUDIENCE,
                     "Client assertion audience claim does not match Realm issuer.");
        return false;
    }
    if (!time_is_good(exchange, assertion))
        return false;
    for (size_t i = 0; i < client->n_certificates; i++)
        if (assertion_is_of_certificate(assertion, client->certificates[i]))
            return true;
    entra_refuse(exchange, WRONG_SIGNATURE,
                 "The certificate with identifier used to sign the client assertion is not "
                 "registered on application. [Reason - The key was not found.]");
    return false;
}

/* What of the token nobody trusts, in the order in which Entra ID looks. */
static const struct arm_federation *find_federation(struct exchange *exchange,
                                                    const struct arm_client *client,
                                                    const struct assertion *assertion)
{
    const char *issuer = assertion_claim(assertion, "iss");
    const char *subject = assertion_claim(assertion, "sub");
    bool issuer_known = false, subject_known = false;

    for (size_t i = 0; i < client->n_federations; i++) {
        const struct arm_federation *federation = &client->federations[i];
        bool same = strcmp(federation->issuer, issuer) == 0;

        issuer_known |= same;
        same = same && strcmp(federation->subject, subject) == 0;
        subject_known |= same;
        if (same && assertion_is_for(assertion, federation->audience))
            return federation;
    }
#define NO_MATCH "No matching federated identity record found for presented assertion "
    if (!issuer_known)
        entra_refuse(exchange, UNKNOWN_ISSUER, NO_MATCH "issuer '%s'.", issuer);
    else if (!subject_known)
        entra_refuse(exchange, UNKNOWN_SUBJECT, NO_MATCH "subject '%s'.", subject);
    else
        entra_refuse(exchange, UNKNOWN_AUDIENCE, NO_MATCH "audience '%s'.",
                     assertion_claim(assertion, "aud"));
#undef NO_MATCH
    return NULL;
}

static bool foreign_assertion_is_good(struct exchange *exchange, const struct arm_client *client,
                                      const struct assertion *assertion)
{
    const struct arm_federation *federation = find_federation(exchange, client, assertion);

    if (!federation)
        return false;
    CLEANUP(key_freep) EVP_PKEY *key = assertion_key(federation->key);
    if (assertion_is_signed_by(assertion, key))
        return time_is_good(exchange, assertion);
    entra_refuse(exchange, FOREIGN_SIGNATURE,
                 "Assertion failed signature validation. [Reason - The key was not found.]");
    return false;
}

static bool assertion_is_good(struct exchange *exchange, const struct arm_client *client,
                              const struct form *form)
{
    const char *type = form_get(form, "client_assertion_type");
    CLEANUP(assertion_finip) struct assertion assertion = {0};

    if (!type || strcmp(type, ASSERTION_TYPE) != 0 ||
        !assertion_read(&assertion, form_get(form, "client_assertion"))) {
        entra_refuse(exchange, NO_ASSERTION, "JWT token is invalid or malformed.");
        return false;
    }
    return strcasecmp(assertion_claim(&assertion, "iss"), client->id) == 0
               ? own_assertion_is_good(exchange, client, &assertion)
               : foreign_assertion_is_good(exchange, client, &assertion);
}

/* ---- the request ---- */

static bool form_is_whole(struct exchange *exchange, const struct form *form,
                          const char *const needed[])
{
    for (size_t i = 0; needed[i]; i++)
        if (!form_get(form, needed[i])) {
            entra_refuse(exchange, NO_PARAMETER,
                         "The request body must contain the following parameter: '%s'.", needed[i]);
            return false;
        }
    if (strcmp(form_get(form, "grant_type"), "client_credentials") == 0)
        return true;
    entra_refuse(exchange, UNKNOWN_GRANT, "The app requested an unsupported grant type '%s'.",
                 form_get(form, "grant_type"));
    return false;
}

static const struct arm_client *find_client(struct exchange *exchange, const char *id)
{
    for (size_t i = 0; i < exchange->config->n_clients; i++)
        if (strcasecmp(exchange->config->clients[i].id, id) == 0)
            return &exchange->config->clients[i];
    entra_refuse(exchange, UNKNOWN_CLIENT,
                 "Application with identifier '%s' was not found in the directory '%s'. This "
                 "can happen if the application has not been installed by the administrator of "
                 "the tenant or consented to by any user in the tenant.",
                 id, exchange->model->tenant_id);
    return NULL;
}

bool entra_client_is_good(struct exchange *exchange, const struct form *form,
                          const char *const needed[])
{
    const char *secret = form_get(form, "client_secret");

    if (!form_is_whole(exchange, form, needed))
        return false;
    const struct arm_client *client = find_client(exchange, form_get(form, "client_id"));
    if (!client)
        return false;
    if (secret)
        return secret_is_good(exchange, client, secret);
    if (form_get(form, "client_assertion"))
        return assertion_is_good(exchange, client, form);
    entra_refuse(exchange, NO_CREDENTIAL,
                 "'client_assertion', 'client_secret' or 'request' is required for the "
                 "'client_credentials' grant type.");
    return false;
}
