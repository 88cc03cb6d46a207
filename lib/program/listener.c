#include "lib/program/listener.h"

#include "lib/base/log.h"

enum { WAITING_MS = 1000 }; /* between looks for the first certificate */

/* ---- what takes the place of what is served ---- */

/* That one waits is no news: it was said at the start. */
static void complain(const struct listener *listener, const struct err *err)
{
    if (listener->is_open)
        log_warning("%s; continuing with the certificates read before", err_message(err));
    else
        log_debug("%s; still waiting for a certificate", err_message(err));
}

static struct err *apply(struct listener *listener)
{
    if (listener->is_open && listener->renew)
        return listener->renew(listener->ctx, &listener->pem);
    TRY(listener->open(listener->ctx, &listener->pem));
    listener->is_open = true;
    return NULL;
}

/* On the loop's stack, which TLS needs. */
static void serve_with_new_ones(void *arg)
{
    struct listener *listener = arg;
    bool waited = listener->may_wait && !listener->is_open;
    CLEANUP(err_freep) struct err *err = apply(listener);

    if (!err) {
        log_info(waited ? "there is a certificate for %s; now serving with it"
                        : "the certificates for %s have changed; now serving with the new ones",
                 listener->name);
        return;
    }
    if (listener->is_open) {
        complain(listener, err);
        return;
    }
    log_error("%s", err_message(err));
    listener->failed(listener->ctx);
}

static void close_unless_renewed(struct task *self, struct listener *listener)
{
    if (!listener->is_open || listener->renew)
        return;
    listener->close(self, listener->ctx);
    listener->is_open = false;
}

static void take_new_ones(struct task *self, struct listener *listener, struct tls_pem *read)
{
    close_unless_renewed(self, listener);
    tls_pem_fini(&listener->pem);
    listener->pem = *read;
    *read = (struct tls_pem){0};
    loop_call(self, serve_with_new_ones, listener);
}

/* ---- the files ---- */

static uint64_t pause_of(const struct listener *listener)
{
    bool waits = !listener->is_open && listener->reload_interval_ms > WAITING_MS;

    return waits ? WAITING_MS : listener->reload_interval_ms;
}

static void reload(struct task *self, void *arg)
{
    struct listener *listener = arg;

    while (!task_is_cancelled(self)) {
        CLEANUP(tls_pem_fini) struct tls_pem read = {0};

        err_free(task_sleep(self, pause_of(listener)));
        CLEANUP(err_freep) struct err *err = tls_files_read(&listener->files, &read);
        if (err)
            complain(listener, err);
        if (err || task_is_cancelled(self) || tls_pem_equal(&read, &listener->pem))
            continue;
        take_new_ones(self, listener, &read);
    }
}

/* ---- the life of it ---- */

static struct err *open_at_once(struct listener *listener)
{
    struct err *err = tls_files_read(&listener->files, &listener->pem);

    if (!err)
        return apply(listener);
    if (!listener->may_wait)
        return err;
    log_warning("%s; %s gets no answer until there is a certificate", err_message(err),
                listener->name);
    err_free(err);
    return NULL;
}

struct err *listener_start(struct listener *listener, struct task_group *group)
{
    TRY(open_at_once(listener));
    if (listener->files.certificate[0])
        group_spawn(group, "certificates", reload, listener);
    return NULL;
}

void listener_fini(struct listener *listener)
{
    tls_pem_fini(&listener->pem);
}
