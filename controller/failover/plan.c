#include "controller/failover/plan.h"

static struct failover_plan plain(enum failover_step step)
{
    return (struct failover_plan){.step = step};
}

static struct failover_plan hold(enum failover_obstacle why, size_t volume)
{
    return (struct failover_plan){.step = FAILOVER_HOLD, .why = why, .volume = volume};
}

/* ---- what keeps a silent node from being given up ---- */

static bool is_off(const struct failover_facts *in)
{
    return in->machine == MACHINE_IS_OFF;
}

/* FAILOVER_NONE if nothing does. */
static struct failover_plan obstacle_of_volume(const struct failover_facts *in, size_t i)
{
    const struct failover_volume *volume = &in->volumes[i];

    if (!volume->wanted)
        return hold(FAILOVER_NOT_WANTED, i);
    if (is_off(in))
        return plain(FAILOVER_NONE);
    if (!volume->fenced)
        return hold(FAILOVER_NOT_FENCED, i);
    if (!volume->proven && volume->n_replicas == 0)
        return hold(FAILOVER_NO_REPLICA, i);
    return plain(FAILOVER_NONE);
}

/* That many are silent may be the network; that one was deleted is somebody's word. */
static struct failover_plan obstacle(const struct failover_facts *in)
{
    if (!in->deleted && in->n_overdue > in->n_overdue_most)
        return hold(FAILOVER_MANY_SILENT, 0);
    if (!in->begun && in->n_recent >= in->n_recent_most)
        return hold(FAILOVER_MANY_RECENT, 0);
    if (!in->has_boot_id)
        return hold(FAILOVER_NO_BOOT_ID, 0);
    if (!in->deleted && in->of_other_boot)
        return hold(FAILOVER_OTHER_BOOT, 0);
    if (in->n_foreign > 0 && !is_off(in))
        return hold(FAILOVER_FOREIGN, 0);
    for (size_t i = 0; i < in->n_volumes; i++) {
        struct failover_plan found = obstacle_of_volume(in, i);

        if (found.step == FAILOVER_HOLD)
            return found;
    }
    return plain(FAILOVER_NONE);
}

/* What is off writes to no disk, whoever's it is and whatever the disk says. */
static bool would_be_lifted(enum failover_obstacle why)
{
    switch (why) {
    case FAILOVER_MANY_SILENT:
    case FAILOVER_MANY_RECENT:
    case FAILOVER_NO_BOOT_ID:
    case FAILOVER_OTHER_BOOT:
    case FAILOVER_NOT_WANTED:
        return false;
    case FAILOVER_FOREIGN:
    case FAILOVER_NOT_FENCED:
    case FAILOVER_NO_REPLICA:
    case FAILOVER_NO_ANSWER:
        return true;
    }
    return false;
}

/* ---- the proof ---- */

/* One replica at first; all of them when that one has not answered in time. */
static bool is_to_ask(const struct failover_facts *in, const struct failover_volume *volume)
{
    return !volume->proven && volume->n_asked < volume->n_replicas &&
           (volume->n_asked == 0 || in->impatient);
}

static struct failover_plan prove(const struct failover_facts *in)
{
    size_t unproven = in->n_volumes;

    for (size_t i = 0; i < in->n_volumes && !is_off(in); i++) {
        if (is_to_ask(in, &in->volumes[i]))
            return (struct failover_plan){.step = FAILOVER_ASK, .volume = i};
        if (!in->volumes[i].proven)
            unproven = i;
    }
    if (unproven < in->n_volumes)
        return in->impatient ? hold(FAILOVER_NO_ANSWER, unproven) : plain(FAILOVER_WAIT);
    /* An answer that comes late would take the disk away from whom it is promoted on. */
    if (in->n_unanswered > 0)
        return plain(FAILOVER_WITHDRAW);
    return plain(in->deleted ? FAILOVER_STAND_IN : FAILOVER_TAINT);
}

/* ---- given up ---- */

static struct failover_plan next_of_given_up(const struct failover_facts *in)
{
    if (in->booted)
        return plain(in->ready ? FAILOVER_RETURN : FAILOVER_NONE);
    /* Their fence holds for as long as somebody else has the disk, and the node lives on. */
    if (in->n_left > 0)
        return plain(FAILOVER_DETACH);
    if (in->stand_in && !in->registered && in->n_unreleased == 0 && in->n_leaving == 0)
        return plain(FAILOVER_REMOVE);
    return plain(in->silent || in->stand_in ? FAILOVER_RELEASE : FAILOVER_NONE);
}

static bool is_to_be_given_up(const struct failover_facts *in)
{
    if (in->deleted) /* what Kubernetes has not published there any more waits for nobody */
        return in->n_unreleased > 0;
    return in->has_node && in->silent && !in->out_of_service;
}

struct failover_plan failover_next(const struct failover_facts *in)
{
    if (in->has_node && in->out_of_service && in->ours)
        return next_of_given_up(in);
    if (!is_to_be_given_up(in))
        return plain(in->n_unanswered > 0 ? FAILOVER_WITHDRAW : FAILOVER_NONE);
    if (in->n_volumes == 0)
        return plain(FAILOVER_NONE);
    struct failover_plan found = obstacle(in);
    if (found.step != FAILOVER_HOLD)
        found = prove(in);
    if (found.step != FAILOVER_HOLD || !would_be_lifted(found.why))
        return found;
    return in->machine == MACHINE_TO_ASK  ? plain(FAILOVER_LOOK)
           : in->machine == MACHINE_ASKED ? plain(FAILOVER_WAIT)
                                          : found;
}
