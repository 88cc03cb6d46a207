/* token.h - access tokens: JSON web tokens, sealed with our key (HS256).
 *
 * Clients must treat them as opaque; only this program reads them.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "test/azsim/arm/seal.h"

struct token {
    const char *tenant, *audience;
    const char *client_id;   /* who it was given to */
    const char *object_id;   /* and as what the tenant knows it; NULL: the same */
    int64_t issued, expires; /* seconds since 1970 */
    json_t *claims;          /* of a token that was read: what the texts point into */
};

char *token_write(const struct seal_key *key, const struct token *token)
    __attribute__((warn_unused_result));
/* False if it is not ours. Its time, tenant and audience are for the caller to judge. */
bool token_read(const struct seal_key *key, const char *text, struct token *ret);

static inline void token_finip(struct token *token)
{
    json_decref(token->claims);
}
