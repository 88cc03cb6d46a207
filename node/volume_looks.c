#include "node/volume_looks.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/rt/errand.h"

#define ADVICE "the kernel's log says more; if it does not recover, restart the node"

enum { MOST_REMEMBERED = 256 }; /* volumes: more than a node can have */

struct look {
    unsigned holders;
    struct volume_looks *looks;
    char *volume, *path;
    struct errand *errand; /* NULL: it has ended */
    uint64_t began, ended; /* loop_now() times */
    struct err *err;
    struct volume_usage usage;
};

/* Of a volume that was looked at. */
struct sight {
    char *volume;      /* its id in lower case */
    struct look *now;  /* under way; NULL: none */
    struct look *last; /* that succeeded; NULL: none, or forgotten */
    bool closed;
    UT_hash_handle hh;
};

struct volume_looks {
    struct loop *loop;
    struct volume_looks_config config;
    struct sight *sights;
    unsigned under_way;
    struct waiters changed; /* woken when a look has ended */
};

struct volume_looks *volume_looks_new(struct loop *loop, const struct volume_looks_config *config)
{
    struct volume_looks *looks = mem_alloc(sizeof *looks);

    looks->loop = loop;
    looks->config = *config;
    waiters_init(&looks->changed);
    return looks;
}

/* ---- looks and what is kept of them ---- */

static struct look *look_ref(struct look *look)
{
    look->holders++;
    return look;
}

static void look_unref(struct look *look)
{
    if (!look || --look->holders > 0)
        return;
    free(look->volume);
    free(look->path);
    err_free(look->err);
    usage_fini(&look->usage);
    free(look);
}

static void look_unrefp(struct look **look)
{
    look_unref(*look);
}

static struct sight *find(const struct volume_looks *looks, const char *volume)
{
    struct sight *sight;

    HASH_FIND_STR(looks->sights, volume, sight);
    return sight;
}

static struct sight *find_or_add(struct volume_looks *looks, const char *volume)
{
    struct sight *sight = find(looks, volume);

    if (sight)
        return sight;
    sight = mem_alloc(sizeof *sight);
    sight->volume = mem_strdup(volume);
    HASH_ADD_KEYPTR(hh, looks->sights, sight->volume, strlen(sight->volume), sight);
    return sight;
}

static void remove_if_empty(struct volume_looks *looks, struct sight *sight)
{
    if (sight->now || sight->last || sight->closed)
        return;
    HASH_DEL(looks->sights, sight);
    free(sight->volume);
    free(sight);
}

static void remember(struct sight *sight, struct look *look)
{
    look_unref(sight->last);
    sight->last = look ? look_ref(look) : NULL;
}

void volume_looks_free(struct volume_looks *looks)
{
    if (!looks)
        return;
    assert(waiters_is_empty(&looks->changed));
    HASH_FOREACH(looks->sights, sight) {
        struct look *now = sight->now;

        if (now) {
            errand_abandon(now->errand);
            look_unref(now);
        }
        sight->now = NULL;
        sight->closed = false;
        remember(sight, NULL);
        remove_if_empty(looks, sight);
    }
    free(looks);
}

/* ---- on a thread ---- */

struct work {
    struct usage_request request;
    char *path;
    struct err *(*look)(const struct usage_request *request, struct volume_usage *ret);
    struct err *err;
    struct volume_usage usage;
};

static void work_run(void *arg)
{
    struct work *work = arg;

    work->err = work->look(&work->request, &work->usage);
}

static void work_free(void *arg)
{
    struct work *work = arg;

    err_free(work->err);
    usage_fini(&work->usage);
    free(work->path);
    free(work);
}

/* ---- the end of a look ---- */

static void say_trouble(const struct look *before, const struct look *look)
{
    const char *trouble = look->usage.trouble;

    if (trouble && !(before && before->usage.trouble))
        log_warning("volume %s: %s", look->volume, trouble);
}

static void take_over(struct sight *sight, struct look *look)
{
    bool full = HASH_COUNT(look->looks->sights) > MOST_REMEMBERED;

    if (!look->err) {
        say_trouble(sight->last, look);
        remember(sight, sight->closed || full ? NULL : look);
    } else if (err_kind(look->err) == ERR_NOT_FOUND) {
        remember(sight, NULL);
    }
}

static void work_done(void *arg, void *ctx)
{
    struct work *work = arg;
    struct look *look = ctx;
    struct volume_looks *looks = look->looks;
    struct sight *sight = find(looks, look->volume);

    look->errand = NULL;
    look->ended = loop_now(looks->loop);
    look->err = TAKE_PTR(work->err);
    look->usage = work->usage;
    work->usage = (struct volume_usage){0};
    looks->under_way--;
    sight->now = NULL;
    take_over(sight, look);
    remove_if_empty(looks, sight);
    look_unref(look);
    waiters_wake(&looks->changed);
}

/* ---- the beginning ---- */

struct wish {
    const char *volume, *path;
    unsigned lun;
    uint64_t deadline;
};

static struct err *begin(struct volume_looks *looks, const struct wish *wish,
                         struct look **ret_look)
{
    static const struct errand_kind kind = {work_run, work_done, work_free};
    struct sight *sight = find_or_add(looks, wish->volume);
    struct work *work = mem_alloc(sizeof *work);
    struct look *look = mem_alloc(sizeof *look);

    work->path = mem_strdup(wish->path);
    work->look = looks->config.look;
    work->request = (struct usage_request){
        .roots = looks->config.roots,
        .path = work->path,
        .lun = wish->lun,
        .known = sight->last ? sight->last->usage.device : 0,
    };
    *look = (struct look){.holders = 1,
                          .looks = looks,
                          .volume = mem_strdup(wish->volume),
                          .path = mem_strdup(wish->path),
                          .began = loop_now(looks->loop)};
    struct err *err = errand_start(looks->loop, &kind, work, look, &look->errand);
    if (err) {
        look_unref(look);
        remove_if_empty(looks, sight);
        return err;
    }
    sight->now = look;
    looks->under_way++;
    *ret_look = look_ref(look);
    return NULL;
}

static uint64_t patience_ends(const struct volume_looks *looks, const struct look *look)
{
    return look->began + looks->config.patience_ms;
}

unsigned volume_looks_hung(const struct volume_looks *looks)
{
    uint64_t now = loop_now(looks->loop);
    unsigned n = 0;

    HASH_FOREACH(looks->sights, sight)
        n += sight->now && patience_ends(looks, sight->now) <= now;
    return n;
}

static struct err *await_thread(struct task *self, struct volume_looks *looks, uint64_t deadline)
{
    unsigned hung = volume_looks_hung(looks);

    if (hung >= looks->config.most_looks)
        return err_new(ERR_UNAVAILABLE,
                       "%u disks of this node hang, and there is no thread left to look at another",
                       hung);
    return wait_for_change(self, &looks->changed, deadline);
}

/* A look that is under way at this path, or a new one. TIMEOUT if another one stays under way. */
static struct err *join(struct task *self, struct volume_looks *looks, const struct wish *wish,
                        struct look **ret_look)
{
    uint64_t come = loop_now(looks->loop) + looks->config.patience_ms;
    uint64_t latest = come < wish->deadline ? come : wish->deadline;

    for (;;) {
        struct sight *sight = find(looks, wish->volume);
        struct look *now = sight ? sight->now : NULL;

        if (sight && sight->closed)
            return err_new(ERR_BUSY, "the volume is being unstaged");
        if (now && strcmp(now->path, wish->path) == 0) {
            *ret_look = look_ref(now);
            return NULL;
        }
        if (!now && looks->under_way < looks->config.most_looks)
            return begin(looks, wish, ret_look);
        uint64_t end = now ? patience_ends(looks, now) : latest;
        TRY(now ? wait_for_change(self, &looks->changed, end < latest ? end : latest)
                : await_thread(self, looks, latest));
    }
}

/* ---- answers ---- */

static struct volume_usage usage_copy(const struct volume_usage *usage)
{
    struct volume_usage copy = *usage;

    copy.trouble = mem_strdup(usage->trouble);
    return copy;
}

static unsigned seconds_since(const struct volume_looks *looks, uint64_t then)
{
    return (unsigned)((loop_now(looks->loop) - then) / 1000);
}

/* Instead of what a look would say that has not ended. */
static struct err *answer_from_memory(const struct volume_looks *looks, const struct wish *wish,
                                      struct volume_usage *ret)
{
    const struct sight *sight = find(looks, wish->volume);
    const struct look *now = sight ? sight->now : NULL, *last = sight ? sight->last : NULL;
    unsigned waited = now ? seconds_since(looks, now->began) : 0;

    if (now && last && strcmp(last->path, wish->path) == 0 &&
        loop_now(looks->loop) - last->ended <= looks->config.most_age_ms) {
        *ret = usage_copy(&last->usage);
        free(ret->trouble);
        ret->trouble = mem_printf(
            "the disk at LUN %u hangs: it has not answered for %u s, and this is what was seen %u "
            "s ago; " ADVICE,
            wish->lun, waited, seconds_since(looks, last->ended));
        return NULL;
    }
    enum err_kind kind = loop_now(looks->loop) >= wish->deadline ? ERR_TIMEOUT : ERR_UNAVAILABLE;
    if (!now)
        return err_new(kind, "%u other disks of this node are being looked at", looks->under_way);
    return err_new(kind,
                   "the disk at LUN %u hangs: it has not answered for %u s, and nothing was seen "
                   "of it at %s lately; " ADVICE,
                   wish->lun, waited, wish->path);
}

static struct err *await_end(struct task *self, struct volume_looks *looks, struct look *look,
                             uint64_t deadline)
{
    uint64_t end = patience_ends(looks, look);

    while (look->errand)
        TRY(wait_for_change(self, &looks->changed, end < deadline ? end : deadline));
    return NULL;
}

static struct err *see(struct task *self, struct volume_looks *looks, const struct wish *wish,
                       struct volume_usage *ret)
{
    CLEANUP(look_unrefp) struct look *look = NULL;

    TRY(join(self, looks, wish, &look));
    TRY(await_end(self, looks, look, wish->deadline));
    if (look->err)
        return err_new(err_kind(look->err), "%s", err_message(look->err));
    *ret = usage_copy(&look->usage);
    return NULL;
}

struct err *volume_looks_see(struct task *self, struct volume_looks *looks, const char *volume_id,
                             const char *path, unsigned lun, uint64_t deadline,
                             struct volume_usage *ret)
{
    CLEANUP(freep) char *volume = mem_lower(volume_id);
    const struct wish wish = {.volume = volume, .path = path, .lun = lun, .deadline = deadline};
    struct err *err = see(self, looks, &wish, ret);

    if (!err || err_kind(err) != ERR_TIMEOUT)
        return err;
    err_free(err);
    return answer_from_memory(looks, &wish, ret);
}

/* ---- a volume that goes ---- */

struct err *volume_looks_close(struct task *self, struct volume_looks *looks, const char *volume_id,
                               uint64_t deadline)
{
    CLEANUP(freep) char *volume = mem_lower(volume_id);
    struct sight *sight = find_or_add(looks, volume);
    CLEANUP(err_freep) struct err *err = NULL;

    assert(!sight->closed);
    sight->closed = true; /* so that it stays */
    remember(sight, NULL);
    while (sight->now && !err)
        err = wait_for_change(self, &looks->changed, deadline);
    if (!err)
        return NULL;
    unsigned waited = seconds_since(looks, sight->now->began);
    volume_looks_open(looks, volume_id);
    if (err_kind(err) != ERR_TIMEOUT)
        return TAKE_PTR(err);
    return err_new(ERR_UNAVAILABLE, "the disk hangs: a look at it has not returned for %u s",
                   waited);
}

void volume_looks_open(struct volume_looks *looks, const char *volume_id)
{
    CLEANUP(freep) char *volume = mem_lower(volume_id);
    struct sight *sight = find(looks, volume);

    sight->closed = false;
    remove_if_empty(looks, sight);
}
