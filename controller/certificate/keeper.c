#include "controller/certificate/keeper.h"

#include <stdlib.h>
#include <string.h>

#include "controller/certificate/authorities.h"
#include "controller/certificate/objects.h"
#include "controller/certificate/plan.h"
#include "controller/metrics.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/timestamp.h"

enum {
    LOOK_MS = 10 * 1000,
    /* After a step: every API server has heard by a watch whom to trust, before anybody shows it.
     */
    SETTLE_MS = 5 * 1000,
    /* After the first certificate, which nobody is trusted with yet. */
    FIRST_MS = 1000,
};

struct certificate_keeper {
    struct controller *controller;
    char *said; /* of what went wrong at the last look; NULL: nothing */
};

/* What both objects say at one time. */
struct look {
    const struct controller *controller;
    int64_t now_us;
    struct kube_object *configuration, *secret; /* NULL each: there is none */
    struct webhook webhook;
    struct certificate_pair current, next;
    char *wanted; /* the bundle; NULL while the certificate is of no use */
    struct certificate_plan_input input;
    struct err *flaw;             /* of a pair that is there; NULL: none */
    struct certificate_pair made; /* by the step */
    struct err *err;
};

static void look_fini(struct look *look)
{
    certificate_pair_fini(&look->current);
    certificate_pair_fini(&look->next);
    certificate_pair_fini(&look->made);
    webhook_fini(&look->webhook);
    free(look->wanted);
    kube_object_unref(look->configuration);
    kube_object_unref(look->secret);
    err_free(look->flaw);
    err_free(look->err);
}

/* ---- looking ---- */

static struct err *read_objects(struct task *self, struct look *look)
{
    const struct controller *controller = look->controller;
    const struct settings *settings = &controller->settings;

    TRY(err_unless(kube_get(self, controller->leader_kube, &MUTATING_WEBHOOK_CONFIGURATIONS, NULL,
                            settings->placement_webhook, &look->configuration),
                   ERR_NOT_FOUND));
    if (!look->configuration)
        return NULL;
    struct err *err = webhook_read(look->configuration, &look->webhook);
    if (err)
        return err_wrap(err, "MutatingWebhookConfiguration %s", settings->placement_webhook);
    return err_unless(kube_get(self, controller->leader_kube, &SECRETS, look->webhook.namespace_,
                               settings->placement_certificate_secret, &look->secret),
                      ERR_NOT_FOUND);
}

static struct certificate_state state_of(struct look *look, const struct certificate_pair *pair)
{
    struct certificate_state state = {.exists = pair->authority || pair->certificate || pair->key};
    struct err *err =
        state.exists ? certificate_pair_check(pair, look->webhook.host, &state.term) : NULL;

    state.usable = state.exists && !err;
    if (look->flaw)
        err_free(err);
    else
        look->flaw = err;
    return state;
}

/* On the loop's stack, for OpenSSL needs it; as the next. */
static void examine(void *arg)
{
    struct look *look = arg;
    struct certificate_plan_input *input = &look->input;

    secret_read_pair(look->secret, "", &look->current);
    secret_read_pair(look->secret, CERTIFICATE_NEXT, &look->next);
    *input = (struct certificate_plan_input){
        .current = state_of(look, &look->current),
        .next = state_of(look, &look->next),
        .now_us = look->now_us,
        .duration_ms = look->controller->settings.placement_certificate_ms,
    };
    if (!input->current.usable)
        return;
    look->wanted =
        authorities_wanted(look->webhook.bundle, look->current.authority,
                           input->next.usable ? look->next.authority : NULL, look->now_us);
    input->trusted = authorities_are(look->webhook.bundle, look->wanted);
}

static void tell_term(const struct certificate_state *current)
{
    if (!current->usable)
        return;
    metric_set(&METRIC_WEBHOOK_CERTIFICATE_BEGINS, (double)current->term.begins_us / 1e6);
    metric_set(&METRIC_WEBHOOK_CERTIFICATE_ENDS, (double)current->term.ends_us / 1e6);
}

/* ---- steps ---- */

static void make(void *arg)
{
    struct look *look = arg;

    look->err = certificate_pair_make(look->webhook.host, look->now_us, look->input.duration_ms,
                                      &look->made);
}

/* `patch` is taken. */
static struct err *patch_secret(struct task *self, const struct look *look, json_t *patch)
{
    CLEANUP(json_decrefp) json_t *owned = patch;

    return kube_patch(self, look->controller->leader_kube, &SECRETS, look->webhook.namespace_,
                      look->controller->settings.placement_certificate_secret, NULL, owned, NULL);
}

static struct err *make_first(struct task *self, const struct look *look)
{
    if (look->secret)
        return patch_secret(self, look, secret_use(look->secret, &look->webhook, &look->made));
    CLEANUP(json_decrefp)
    json_t *secret = secret_new(look->controller->settings.placement_certificate_secret,
                                &look->webhook, &look->made);
    return kube_create(self, look->controller->leader_kube, &SECRETS, look->webhook.namespace_,
                       secret, NULL);
}

static struct err *trust(struct task *self, const struct look *look)
{
    CLEANUP(json_decrefp) json_t *patch = webhook_trust(&look->webhook, look->wanted);

    return kube_json_patch(self, look->controller->leader_kube, &MUTATING_WEBHOOK_CONFIGURATIONS,
                           NULL, look->controller->settings.placement_webhook, patch);
}

static struct err *take(struct task *self, struct look *look, enum certificate_step step)
{
    if (step == CERTIFICATE_MAKE || step == CERTIFICATE_PREPARE) {
        loop_call(self, make, look);
        TRY(TAKE_PTR(look->err));
    }
    switch (step) {
    case CERTIFICATE_MAKE:
        return make_first(self, look);
    case CERTIFICATE_PREPARE:
        return patch_secret(self, look, secret_prepare(look->secret, &look->made));
    case CERTIFICATE_TRUST:
        return trust(self, look);
    case CERTIFICATE_PROMOTE:
        return patch_secret(self, look, secret_use(look->secret, &look->webhook, &look->next));
    default:
        return NULL;
    }
}

/* ---- the life of it ---- */

static struct err *look_and_take(struct task *self, const struct certificate_keeper *keeper,
                                 enum certificate_step *ret_step)
{
    const struct controller *controller = keeper->controller;
    CLEANUP(look_fini)
    struct look look = {.controller = controller, .now_us = loop_wall_us(controller->loop)};

    TRY(read_objects(self, &look));
    if (!look.configuration)
        return NULL;
    loop_call(self, examine, &look);
    tell_term(&look.input.current);
    *ret_step = certificate_plan(&look.input);
    TRY(take(self, &look, *ret_step));
    if (*ret_step != CERTIFICATE_KEEP)
        log_info("certificate of webhook %s: %s%s%s", controller->settings.placement_webhook,
                 certificate_step_text(*ret_step), look.flaw ? ", because " : "",
                 look.flaw ? err_message(look.flaw) : "");
    return NULL;
}

/* Once of each reason, until all is well again. */
static void tell(struct certificate_keeper *keeper, const struct err *err)
{
    if (err && keeper->said && strcmp(keeper->said, err_message(err)) == 0)
        return;
    free(keeper->said);
    keeper->said = err ? mem_strdup(err_message(err)) : NULL;
    if (err)
        log_warning("keeping the certificate of webhook %s: %s",
                    keeper->controller->settings.placement_webhook, err_message(err));
}

/* Somebody else has written meanwhile, which the next look sees. */
static bool is_no_failure(const struct err *err)
{
    enum err_kind kind = err_kind(err);

    return kind == ERR_CONFLICT || kind == ERR_EXISTS || kind == ERR_CANCELED;
}

static uint64_t pause_after(enum certificate_step step, const struct err *err)
{
    if (err || step == CERTIFICATE_KEEP)
        return LOOK_MS;
    return step == CERTIFICATE_MAKE ? FIRST_MS : SETTLE_MS;
}

static void run(struct task *self, void *arg)
{
    struct certificate_keeper *keeper = arg;

    while (!task_is_cancelled(self)) {
        enum certificate_step step = CERTIFICATE_KEEP;
        CLEANUP(err_freep) struct err *err = look_and_take(self, keeper, &step);

        if (!err || !is_no_failure(err))
            tell(keeper, err);
        err_free(task_sleep(self, pause_after(step, err)));
    }
}

struct certificate_keeper *certificate_keeper_start(struct controller *controller,
                                                    struct task_group *group)
{
    if (!controller->settings.placement_webhook[0])
        return NULL;
    struct certificate_keeper *keeper = mem_alloc(sizeof *keeper);
    keeper->controller = controller;
    group_spawn(group, "webhook certificate", run, keeper);
    return keeper;
}

void certificate_keeper_free(struct certificate_keeper *keeper)
{
    if (!keeper)
        return;
    free(keeper->said);
    free(keeper);
}
