#include "test/azsim/arm/token.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"

static const char header[] = "{\"typ\":\"JWT\",\"alg\":\"HS256\"}";

char *token_write(const struct seal_key *key, const struct token *token)
{
    const char *object = token->object_id ? token->object_id : token->client_id;
    CLEANUP(json_decrefp)
    json_t *claims = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "aud", token->audience,
                               "tid", token->tenant, "appid", token->client_id, "oid", object,
                               "sub", object, "iat", (json_int_t)token->issued, "nbf",
                               (json_int_t)token->issued, "exp", (json_int_t)token->expires);
    CLEANUP(freep) char *payload = json_dumps(claims, JSON_COMPACT);
    CLEANUP(freep) char *first = base64url_encode(header, strlen(header));
    CLEANUP(freep) char *second = base64url_encode(payload, strlen(payload));
    CLEANUP(freep) char *sealed = mem_printf("%s.%s", first, second);
    char seal[SEAL_SIZE];

    seal_make(key, sealed, strlen(sealed), seal);
    return mem_printf("%s.%s", sealed, seal);
}

bool token_read(const struct seal_key *key, const char *text, struct token *ret)
{
    const char *first = strchr(text, '.'), *second = first ? strchr(first + 1, '.') : NULL;
    size_t length;

    if (!second || !seal_matches(key, text, (size_t)(second - text), second + 1))
        return false;
    CLEANUP(freep)
    char *payload = base64url_decode(first + 1, (size_t)(second - first - 1), &length);
    json_t *claims = payload ? json_loadb(payload, length, 0, NULL) : NULL;
    *ret = (struct token){.tenant = json_string_value(json_object_get(claims, "tid")),
                          .audience = json_string_value(json_object_get(claims, "aud")),
                          .client_id = json_string_value(json_object_get(claims, "appid")),
                          .object_id = json_string_value(json_object_get(claims, "oid")),
                          .issued = json_integer_value(json_object_get(claims, "iat")),
                          .expires = json_integer_value(json_object_get(claims, "exp")),
                          .claims = claims};
    return true; /* what we sealed, we wrote */
}
