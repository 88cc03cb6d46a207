#include "controller/csi/page_token.h"

#include <string.h>

#include "lib/base/alloc.h"

#define TOKEN "after:"
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-." /* of an object of Kubernetes */

/* NULL if it is no token of ours. */
static const char *name_in(const char *token)
{
    const char *name = NULL;

    if (strncmp(token, TOKEN, strlen(TOKEN)) == 0)
        name = token + strlen(TOKEN);
    return name && name[0] && !name[strspn(name, NAME_CHARACTERS)] ? name : NULL;
}

struct err *page_token_read(const struct controller *controller, const char *call,
                            const char *token, char **ret_key)
{
    const char *name = name_in(token);

    if (token[0] && !name)
        return err_new(ERR_BUSY,
                       "starting_token \"%s\" is not from an answer of %s; list again from the "
                       "beginning, without starting_token",
                       token, call);
    *ret_key = name ? kube_key(controller->settings.namespace_, name) : mem_strdup("");
    return NULL;
}

char *page_token_after(struct arena *arena, const struct kube_object *last)
{
    return arena_printf(arena, TOKEN "%s", last->metadata->name);
}
