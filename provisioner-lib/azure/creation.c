#include "provisioner-lib/azure/creation.h"

#include <string.h>
#include <strings.h>

#include "lib/rt/wait.h"

enum { PAUSE_MS = 1000, MOST_LOOKS = 60 };

#define FAILED "CreationFailed"

enum creation_state creation_state_of(const char *provisioning_state)
{
    if (!provisioning_state || strcasecmp(provisioning_state, "Succeeded") == 0)
        return CREATION_DONE;
    return strcasecmp(provisioning_state, "Failed") == 0 ||
                   strcasecmp(provisioning_state, "Canceled") == 0
               ? CREATION_FAILED
               : CREATION_UNDER_WAY;
}

/* Until it is what it is to become, whoever began it. What has just been put may not be found yet,
 * where Azure's index is behind: that it is not there is no answer then. Who took it for one would
 * delete what a copy is made of. */
static struct err *settle(struct task *self, const struct creation *c, bool was_put)
{
    for (int i = 0; i < MOST_LOOKS; i++) {
        enum creation_state state = CREATION_UNDER_WAY;
        struct err *err = c->look(self, c->ctx, &state);

        TRY(was_put ? err_unless(err, ERR_NOT_FOUND) : err);
        if (state == CREATION_DONE)
            return NULL;
        if (state == CREATION_FAILED)
            return err_with_code(
                err_new(ERR_INTERNAL, "%s %s: its creation failed", c->what, c->id), FAILED);
        TRY(task_sleep(self, PAUSE_MS));
    }
    return err_new(ERR_BUSY, "%s %s is still being created", c->what, c->id);
}

/* There is none, or what is left of an attempt that failed. */
static bool is_to_be_put(const struct err *err)
{
    const char *code = err_code(err) ? err_code(err) : "";

    return err_kind(err) == ERR_NOT_FOUND ? strcmp(code, "ResourceGroupNotFound") != 0
                                          : strcmp(code, FAILED) == 0;
}

struct err *creation_carry_out(struct task *self, const struct creation *creation)
{
    struct err *err = settle(self, creation, false);

    if (!err || !is_to_be_put(err))
        return err;
    err_free(err);
    TRY(creation->put(self, creation->ctx));
    return settle(self, creation, true);
}
