#include "lib/rt/errand.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

struct errand {
    struct loop *loop;
    const struct errand_kind *kind;
    void *work, *ctx;
    bool abandoned; /* under the lock: no loop may be there any more */
};

/* One for all of them: it has to outlive each. It is held for an instant only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void errand_free(struct errand *errand)
{
    errand->kind->free(errand->work);
    free(errand);
}

static void finish(void *arg)
{
    struct errand *errand = arg;

    if (!errand->abandoned)
        errand->kind->done(errand->work, errand->ctx);
    errand_free(errand);
}

static void *errand_main(void *arg)
{
    struct errand *errand = arg;

    errand->kind->run(errand->work);
    pthread_mutex_lock(&lock);
    bool abandoned = errand->abandoned;
    if (!abandoned) /* and nobody can make it so, and end the loop, before this is over */
        loop_post(errand->loop, finish, errand);
    pthread_mutex_unlock(&lock);
    if (abandoned)
        errand_free(errand);
    return NULL;
}

static int start_thread(struct errand *errand)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int failure = pthread_create(&thread, &attributes, errand_main, errand);
    pthread_attr_destroy(&attributes);
    return failure;
}

struct err *errand_start(struct loop *loop, const struct errand_kind *kind, void *work, void *ctx,
                         struct errand **ret_errand)
{
    struct errand *errand = mem_alloc(sizeof *errand);

    *errand = (struct errand){.loop = loop, .kind = kind, .work = work, .ctx = ctx};
    *ret_errand = errand;
    int failure = start_thread(errand);
    if (failure) {
        *ret_errand = NULL;
        errand_free(errand);
        return err_new(ERR_UNAVAILABLE, "no thread can be started: %s", strerror(failure));
    }
    return NULL;
}

void errand_abandon(struct errand *errand)
{
    pthread_mutex_lock(&lock);
    errand->abandoned = true;
    pthread_mutex_unlock(&lock);
}
