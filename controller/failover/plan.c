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

static const struct {
    bool of_volumes;    /* of some of them; pods that do not use these may move */
    bool lifted_by_off; /* what is off writes to no disk, whoever's it is */
} obstacles[] = {
    [FAILOVER_MANY_SILENT] = {0},
    [FAILOVER_MANY_RECENT] = {0},
    [FAILOVER_NO_BOOT_ID] = {0},
    [FAILOVER_OTHER_BOOT] = {0},
    [FAILOVER_FOREIGN] = {.of_volumes = true, .lifted_by_off = true},
    [FAILOVER_NOT_WANTED] = {.of_volumes = true},
    [FAILOVER_NOT_FENCED] = {.of_volumes = true, .lifted_by_off = true},
    [FAILOVER_NO_REPLICA] = {.of_volumes = true, .lifted_by_off = true},
    [FAILOVER_NO_ANSWER] = {.of_volumes = true, .lifted_by_off = true},
};

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

/* ---- pods that move although the node is not given up ---- */

static struct failover_plan ask_for_pods(const struct failover_facts *in)
{
    for (size_t i = 0; i < in->n_volumes; i++) {
        const struct failover_volume *volume = &in->volumes[i];

        if (volume->may_move && is_to_ask(in, volume))
            return (struct failover_plan){.step = FAILOVER_ASK, .volume = i};
        if (volume->moves && volume->held && volume->n_unanswered > 0)
            return plain(FAILOVER_WITHDRAW);
    }
    return plain(FAILOVER_NONE);
}

/* Kubernetes learns from the Node's status that a volume is not in use: a Node that was deleted has
 * none. */
static struct failover_plan move_pods(const struct failover_facts *in)
{
    bool waits = false;

    if (in->deleted)
        return plain(FAILOVER_NONE);
    struct failover_plan found = ask_for_pods(in);
    if (found.step != FAILOVER_NONE)
        return found;
    for (size_t i = 0; i < in->n_volumes; i++) {
        const struct failover_volume *volume = &in->volumes[i];

        if (volume->moves && volume->held)
            return plain(in->moved && !in->booted ? FAILOVER_MOVE : FAILOVER_AVOID);
        waits |= volume->may_move && !volume->proven && !in->impatient;
    }
    return plain(waits ? FAILOVER_WAIT : FAILOVER_NONE);
}

/* Whether the machine is off may become known while they move. */
static struct failover_plan next_of_held(const struct failover_facts *in, struct failover_plan held)
{
    bool asks = obstacles[held.why].lifted_by_off;

    if (asks && in->machine == MACHINE_TO_ASK)
        return plain(FAILOVER_LOOK);
    struct failover_plan found =
        obstacles[held.why].of_volumes ? move_pods(in) : plain(FAILOVER_NONE);
    if (found.step == FAILOVER_MOVE)
        return (struct failover_plan){FAILOVER_MOVE, held.why, held.volume};
    if (found.step != FAILOVER_NONE)
        return found;
    return asks && in->machine == MACHINE_ASKED ? plain(FAILOVER_WAIT) : held;
}

/* ---- given up ---- */

/* As a whole, or as far as it could be. */
static struct failover_plan next_of_given_up(const struct failover_facts *in)
{
    if (in->booted)
        return plain(in->ready ? FAILOVER_RETURN : FAILOVER_NONE);
    /* Their fence holds for as long as somebody else has the disk, and the node lives on. */
    if (in->n_left > 0)
        return plain(FAILOVER_DETACH);
    if (!in->ours) /* pods were moved: what is left there is held back, or can move by now */
        return plain(FAILOVER_NONE);
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

static struct failover_plan next_of_silent(const struct failover_facts *in)
{
    if (!is_to_be_given_up(in))
        return plain(in->n_unanswered > 0 ? FAILOVER_WITHDRAW : FAILOVER_NONE);
    if (in->n_volumes == 0)
        return plain(FAILOVER_NONE);
    struct failover_plan found = obstacle(in);
    if (found.step != FAILOVER_HOLD)
        found = prove(in);
    return found.step == FAILOVER_HOLD ? next_of_held(in, found) : found;
}

struct failover_plan failover_next(const struct failover_facts *in)
{
    struct failover_plan found = plain(FAILOVER_NONE);

    if (in->has_node && (in->ours || in->moved))
        found = next_of_given_up(in);
    return in->ours || found.step != FAILOVER_NONE ? found : next_of_silent(in);
}

bool failover_goes_on(enum failover_step step)
{
    return step == FAILOVER_ASK || step == FAILOVER_WITHDRAW || step == FAILOVER_TAINT ||
           step == FAILOVER_DETACH || step == FAILOVER_LOOK || step == FAILOVER_AVOID;
}
