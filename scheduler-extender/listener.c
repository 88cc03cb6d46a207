#include "scheduler-extender/listener.h"

#include "lib/base/log.h"

/* On the loop's stack, which TLS needs. */
static void open_again(void *arg)
{
    struct listener *listener = arg;
    CLEANUP(err_freep) struct err *err = listener->open(listener->ctx, &listener->credentials);

    if (!err) {
        log_info("the certificates for %s have changed; now serving with the new ones",
                 listener->name);
        return;
    }
    log_error("%s", err_message(err));
    listener->failed(listener->ctx);
}

static void reload(struct task *self, void *arg)
{
    struct listener *listener = arg;

    while (!task_is_cancelled(self)) {
        CLEANUP(credentials_fini) struct credentials read = {0};

        err_free(task_sleep(self, listener->reload_interval_ms));
        CLEANUP(err_freep) struct err *err = credentials_read(&listener->files, &read);
        if (err)
            log_warning("%s; continuing with the certificates read before", err_message(err));
        if (err || task_is_cancelled(self) || credentials_equal(&read, &listener->credentials))
            continue;
        listener->close(self, listener->ctx);
        credentials_fini(&listener->credentials);
        listener->credentials = read;
        read = (struct credentials){0};
        loop_call(self, open_again, listener);
    }
}

struct err *listener_start(struct listener *listener, struct task_group *group)
{
    TRY(credentials_read(&listener->files, &listener->credentials));
    TRY(listener->open(listener->ctx, &listener->credentials));
    if (listener->credentials.certificate)
        group_spawn(group, "certificates", reload, listener);
    return NULL;
}

void listener_fini(struct listener *listener)
{
    credentials_fini(&listener->credentials);
}
