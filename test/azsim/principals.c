#include "test/azsim/principals.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/assertion.h"
#include "test/azsim/config_member.h"

enum { MAX_PRINCIPALS = 1000, MAX_PROOFS = 20 };

/* ---- forms ---- */

static bool is_key(EVP_PKEY *key)
{
    bool good = key && EVP_PKEY_is_a(key, "RSA");

    EVP_PKEY_free(key);
    return good;
}

static bool is_certificate(const char *text)
{
    return is_key(assertion_key_of_certificate(text));
}

static bool is_public_key(const char *text)
{
    return is_key(assertion_key(text));
}

static const struct text_form certificate = {is_certificate, "a PEM certificate of an RSA key",
                                             true};
static const struct text_form public_key = {is_public_key, "a PEM public key for RSA", true};

/* ---- members of an object ---- */

static struct err *need(const json_t *json, const char *path, const char *name,
                        const struct text_form *form, const char **ret)
{
    CLEANUP(freep) char *full = mem_printf("%s%s", path, name);
    const json_t *value = json_object_get(json, name);

    TRY(member_check_text(value, full, form));
    *ret = json_string_value(value);
    return NULL;
}

static struct err *take(const json_t *json, const char *path, const char *name,
                        const struct text_form *form, const char **ret)
{
    return json_object_get(json, name) ? need(json, path, name, form, ret) : NULL;
}

static struct err *take_list(const json_t *json, const char *path, const char *name,
                             const struct text_form *form, const char ***ret, size_t *ret_n)
{
    CLEANUP(freep) char *full = mem_printf("%s%s", path, name);
    const json_t *list = json_object_get(json, name), *value;
    size_t i;

    if (!list)
        return NULL;
    TRY(member_check_list(list, full, MAX_PRINCIPALS));
    json_array_foreach(list, i, value) {
        CLEANUP(freep) char *item = mem_printf("%s[%zu]", full, i);

        TRY(member_check_text(value, item, form));
        ARRAY_ADD(*ret, *ret_n) = json_string_value(value);
    }
    return NULL;
}

/* ---- clients ---- */

static struct err *read_federation(const json_t *json, const char *path, struct arm_client *client)
{
    static const char *const known[] = {"issuer", "subject", "audience", "key", NULL};
    struct arm_federation federation = {0};

    TRY(member_check_names(json, path, known));
    TRY(need(json, path, "issuer", &text_any, &federation.issuer));
    TRY(need(json, path, "subject", &text_any, &federation.subject));
    TRY(need(json, path, "audience", &text_any, &federation.audience));
    TRY(need(json, path, "key", &public_key, &federation.key));
    ARRAY_ADD(client->federations, client->n_federations) = federation;
    return NULL;
}

static struct err *read_federations(const json_t *json, const char *path, struct arm_client *client)
{
    CLEANUP(freep) char *full = mem_printf("%sfederatedCredentials", path);
    const json_t *list = json_object_get(json, "federatedCredentials"), *value;
    size_t i;

    if (!list)
        return NULL;
    TRY(member_check_list(list, full, MAX_PROOFS));
    json_array_foreach(list, i, value) {
        CLEANUP(freep) char *item = mem_printf("%s[%zu].", full, i);

        TRY(read_federation(value, item, client));
    }
    return NULL;
}

static struct err *read_client(const json_t *json, const char *path, struct arm_client *client)
{
    static const char *const known[] = {
        "clientId",     "clientSecret",         "expiredClientSecret",
        "certificates", "federatedCredentials", NULL};

    TRY(member_check_names(json, path, known));
    TRY(need(json, path, "clientId", &text_uuid, &client->id));
    TRY(take(json, path, "clientSecret", &text_secret, &client->secret));
    TRY(take(json, path, "expiredClientSecret", &text_secret, &client->expired_secret));
    TRY(take_list(json, path, "certificates", &certificate, &client->certificates,
                  &client->n_certificates));
    TRY(read_federations(json, path, client));
    if (client->secret || client->n_certificates || client->n_federations)
        return NULL;
    return err_new(ERR_INVALID,
                   "%sclientId: the client has none of clientSecret, certificates and "
                   "federatedCredentials",
                   path);
}

static struct err *read_clients(const json_t *json, struct principals *principals)
{
    const json_t *list = json_object_get(json, "clients"), *value;
    size_t i;

    TRY(member_check_list(list, "clients", MAX_PRINCIPALS));
    json_array_foreach(list, i, value) {
        CLEANUP(freep) char *path = mem_printf("clients[%zu].", i);
        struct arm_client *client = &ARRAY_ADD(principals->clients, principals->n_clients);

        *client = (struct arm_client){0};
        TRY(read_client(value, path, client));
    }
    return NULL;
}

/* ---- identities ---- */

static struct err *read_identities(const json_t *json, struct principals *principals)
{
    static const char *const known[] = {"name", "clientId", "objectId", "vms", NULL};
    const json_t *list = json_object_get(json, "identities"), *value;
    size_t i;

    if (!list)
        return NULL;
    TRY(member_check_list(list, "identities", MAX_PRINCIPALS));
    json_array_foreach(list, i, value) {
        CLEANUP(freep) char *path = mem_printf("identities[%zu].", i);
        struct arm_identity *identity =
            &ARRAY_ADD(principals->identities, principals->n_identities);

        *identity = (struct arm_identity){0};
        TRY(member_check_names(value, path, known));
        TRY(need(value, path, "name", &text_any, &identity->name));
        TRY(need(value, path, "clientId", &text_uuid, &identity->client_id));
        TRY(need(value, path, "objectId", &text_uuid, &identity->object_id));
        TRY(take_list(value, path, "vms", &text_vm, &identity->vms, &identity->n_vms));
    }
    return NULL;
}

/* ---- both ---- */

struct err *principals_read(const json_t *json, struct principals *ret)
{
    ret->document = json_pack("{s:O*, s:O*}", "clients", json_object_get(json, "clients"),
                              "identities", json_object_get(json, "identities"));
    TRY(read_clients(ret->document, ret));
    return read_identities(ret->document, ret);
}

void principals_fini(struct principals *principals)
{
    for (size_t i = 0; i < principals->n_clients; i++) {
        free(principals->clients[i].certificates);
        free(principals->clients[i].federations);
    }
    for (size_t i = 0; i < principals->n_identities; i++)
        free(principals->identities[i].vms);
    free(principals->clients);
    free(principals->identities);
    json_decref(principals->document);
    *principals = (struct principals){0};
}
