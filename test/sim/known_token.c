/* What azsim's token_read() is in azdisk-sim: the linker gives its callers the first of these
 * functions (mk/build.mk). Every request brings one of a few tokens; to check its seal each time
 * was a fourteenth of the simulation's time. */

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/token.h"

bool __wrap_token_read(const struct seal_key *key, const char *text, struct token *ret);
bool __real_token_read(const struct seal_key *key, const char *text, struct token *ret);

enum { PLACES = 8 }; /* two for each controller; the oldest is forgotten */

static struct known {
    struct seal_key key;
    char *text;
    struct token token;
} known[PLACES];

static bool is_of(const struct known *place, const struct seal_key *key, const char *text)
{
    return place->text && strcmp(place->text, text) == 0 &&
           memcmp(&place->key, key, sizeof *key) == 0;
}

static void remember(const struct seal_key *key, const char *text, const struct token *token)
{
    static unsigned n_read;
    struct known *place = &known[n_read++ % PLACES];

    token_finip(&place->token);
    free(place->text);
    *place = (struct known){*key, mem_strdup(text), *token};
    json_incref(token->claims);
}

bool __wrap_token_read(const struct seal_key *key, const char *text, struct token *ret)
{
    for (size_t i = 0; i < PLACES; i++) {
        if (!is_of(&known[i], key, text))
            continue;
        *ret = known[i].token;
        json_incref(ret->claims);
        return true;
    }
    if (!__real_token_read(key, text, ret))
        return false;
    remember(key, text, ret);
    return true;
}
