#include "controller/replica/plan.h"

#include <assert.h>
#include <string.h>

unsigned replicas_wanted(unsigned requested, unsigned primaries, unsigned max_shares)
{
    unsigned left = max_shares > primaries ? max_shares - primaries : 0;

    return requested < left ? requested : left;
}

static const struct replica_attachment *attachment_on(const struct replica_snapshot *in,
                                                      const char *node)
{
    for (size_t i = 0; i < in->n_attachments; i++)
        if (strcmp(in->attachments[i].node, node) == 0)
            return &in->attachments[i];
    return NULL;
}

static bool is_target(const struct replica_snapshot *in, const char *node)
{
    for (size_t i = 0; i < in->n_targets; i++)
        if (strcmp(in->targets[i].node, node) == 0)
            return true;
    return false;
}

static bool stays(const struct replica_snapshot *in, const struct replica_plan *plan, size_t i)
{
    for (size_t k = 0; k < plan->n_release; k++)
        if (plan->release[k] == i)
            return false;
    return !in->attachments[i].primary && !in->attachments[i].leaving;
}

/* Is replica a easier to do without than replica b? */
static bool goes_before(const struct replica_snapshot *in, const struct replica_attachment *a,
                        const struct replica_attachment *b)
{
    bool a_belongs = is_target(in, a->node), b_belongs = is_target(in, b->node);

    if (a_belongs != b_belongs)
        return b_belongs;
    if (a->useful != b->useful)
        return b->useful;
    if (a->attached != b->attached)
        return b->attached;
    return strcmp(a->node, b->node) > 0;
}

static void release_one(const struct replica_snapshot *in, struct replica_plan *plan)
{
    size_t first = in->n_attachments;

    for (size_t i = 0; i < in->n_attachments; i++)
        if (stays(in, plan, i) && (first == in->n_attachments ||
                                   goes_before(in, &in->attachments[i], &in->attachments[first])))
            first = i;
    assert(first < in->n_attachments);
    plan->release[plan->n_release++] = first;
}

/* What the snapshot comes to. */
struct tally {
    unsigned shares;  /* in use, the leaving ones included */
    unsigned leaving; /* of them */
    unsigned staying; /* replicas */
    unsigned astray;  /* of them: not where they belong */
    unsigned coming;  /* of them: where they belong, and not attached yet */
    unsigned missing; /* targets without a replica */
};

static struct tally count(const struct replica_snapshot *in)
{
    struct tally tally = {.shares = (unsigned)in->n_attachments};

    for (size_t i = 0; i < in->n_attachments; i++) {
        const struct replica_attachment *a = &in->attachments[i];

        tally.leaving += a->leaving;
        if (a->primary || a->leaving)
            continue;
        tally.staying++;
        tally.astray += !is_target(in, a->node);
        tally.coming += is_target(in, a->node) && !a->attached;
    }
    for (size_t i = 0; i < in->n_targets; i++)
        tally.missing += attachment_on(in, in->targets[i].node) == NULL;
    return tally;
}

/* More than wanted: but one that is astray may stand in for one that is still to come, as long as
 * nobody else needs its share. */
static void release_surplus(const struct replica_snapshot *in, struct replica_plan *plan,
                            struct tally *tally)
{
    bool may_linger = in->may_attach && !in->copying && tally->shares <= in->max_shares;
    unsigned stand_ins = may_linger ? tally->coming + tally->missing : 0;

    if (stand_ins > tally->astray)
        stand_ins = tally->astray;
    while (tally->staying > in->wanted && tally->staying - in->wanted > stand_ins) {
        release_one(in, plan);
        tally->staying--;
        tally->astray -= tally->astray > 0;
    }
}

/* Neither attached nor to be promoted if it were: it may be where the disk can never be attached,
 * which whoever published it there did not know. */
static void release_hopeless(const struct replica_snapshot *in, struct replica_plan *plan,
                             struct tally *tally)
{
    for (size_t i = 0; i < in->n_attachments; i++) {
        const struct replica_attachment *a = &in->attachments[i];

        if (!stays(in, plan, i) || a->attached || a->useful)
            continue;
        plan->release[plan->n_release++] = i;
        tally->staying--;
        if (is_target(in, a->node))
            tally->coming--;
        else
            tally->astray--;
    }
}

/* As many as there are shares for; for each other one a replica that is astray gives its share. */
static void attach_missing(const struct replica_snapshot *in, struct replica_plan *plan,
                           struct tally *tally)
{
    unsigned to_be_free = tally->leaving + (unsigned)plan->n_release;

    for (size_t i = 0; i < in->n_targets; i++) {
        if (attachment_on(in, in->targets[i].node))
            continue;
        if (!in->targets[i].has_slot) {
            plan->shortfall = REPLICAS_WAIT_SLOT;
            continue;
        }
        if (tally->shares < in->max_shares) {
            plan->attach[plan->n_attach++] = i;
            tally->shares++;
            continue;
        }
        plan->shortfall = REPLICAS_WAIT_RELEASE;
        if (to_be_free > 0) {
            to_be_free--;
        } else if (tally->astray > 0) {
            release_one(in, plan);
            tally->astray--;
        }
    }
}

void replica_decide(const struct replica_snapshot *in, struct replica_plan *plan)
{
    struct tally tally = count(in);

    assert(in->max_shares <= MAX_SHARES_LIMIT && in->n_attachments <= MAX_ATTACHMENTS);
    assert(in->n_targets <= in->wanted);
    *plan = (struct replica_plan){.shortfall = REPLICAS_COMPLETE};
    release_hopeless(in, plan, &tally);
    release_surplus(in, plan, &tally);
    if (!in->may_attach)
        return;
    if (in->copying) {
        if (tally.missing > 0 || in->n_targets < in->wanted)
            plan->shortfall = REPLICAS_WAIT_COPY;
        return;
    }
    attach_missing(in, plan, &tally);
    if (plan->shortfall == REPLICAS_COMPLETE && in->n_targets < in->wanted)
        plan->shortfall = REPLICAS_NO_NODE;
}
