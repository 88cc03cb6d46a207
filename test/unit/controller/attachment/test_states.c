/* Walks every cell of the table: an attachment is put into the phase, the event happens, what is
 * answered is done, and attachment_next must name the cell's step and lead to the cell's phase. */
#include "controller/attachment/states.h"

#include "controller/volume/plan.h"
#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define DISK "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"

enum { LUN = 1 };

struct world {
    struct attachment_snapshot in;
    struct cloud_instance vm;
    struct cloud_slot slot;
    bool absent;
};

/* ---- an attachment in a phase ---- */

static const struct {
    enum attachment_role wanted, role;
    enum attachment_state state;
    bool disk, deleting;
} in_phase[ATTACHMENT_PHASES] = {
    [PHASE_REPLICA_PENDING] = {ROLE_IS_REPLICA, ROLE_NONE, ATTACHMENT_NEW, false, false},
    [PHASE_REPLICA_ATTACHING] = {ROLE_IS_REPLICA, ROLE_IS_REPLICA, ATTACHMENT_ATTACHING, false,
                                 false},
    [PHASE_REPLICA_ATTACHED] = {ROLE_IS_REPLICA, ROLE_IS_REPLICA, ATTACHMENT_ATTACHED, true, false},
    [PHASE_PRIMARY_PENDING] = {ROLE_IS_PRIMARY, ROLE_NONE, ATTACHMENT_NEW, false, false},
    [PHASE_PRIMARY_ATTACHING] = {ROLE_IS_PRIMARY, ROLE_IS_PRIMARY, ATTACHMENT_ATTACHING, false,
                                 false},
    [PHASE_PRIMARY_ATTACHED] = {ROLE_IS_PRIMARY, ROLE_IS_PRIMARY, ATTACHMENT_ATTACHED, true, false},
    [PHASE_PROMOTING] = {ROLE_IS_PRIMARY, ROLE_IS_REPLICA, ATTACHMENT_ATTACHED, true, false},
    [PHASE_DEMOTING] = {ROLE_IS_REPLICA, ROLE_IS_PRIMARY, ATTACHMENT_ATTACHED, true, false},
    [PHASE_LEAVING] = {ROLE_IS_REPLICA, ROLE_IS_REPLICA, ATTACHMENT_DETACHING, true, true},
    [PHASE_DELETED_WHILE_PUBLISHED] = {ROLE_IS_PRIMARY, ROLE_IS_PRIMARY, ATTACHMENT_ATTACHED, true,
                                       true},
};

static void set_disk(struct world *w, bool there)
{
    w->slot = (struct cloud_slot){.disk_id = (char *)(uintptr_t)DISK, .lun = LUN};
    w->vm.slots = &w->slot;
    w->vm.n_slots = there ? 1 : 0;
}

static void put_into(struct world *w, enum attachment_phase phase)
{
    bool pending = phase == PHASE_REPLICA_PENDING || phase == PHASE_PRIMARY_PENDING;

    *w = (struct world){.absent = phase == PHASE_ABSENT};
    w->vm = (struct cloud_instance){.state = CLOUD_INSTANCE_SETTLED, .max_disks = 4};
    set_disk(w, in_phase[phase].disk);
    w->in = (struct attachment_snapshot){
        .deleting = in_phase[phase].deleting,
        .has_finalizer = true,
        .wanted = in_phase[phase].wanted,
        .role = in_phase[phase].role,
        .state = in_phase[phase].state,
        .lun = pending ? NO_LUN : LUN,
        .node_exists = true,
        .verified = in_phase[phase].disk,
        .since_boot = true,
        .volume_ready = true,
        .max_shares = 3,
        .primary_attached = in_phase[phase].wanted == ROLE_IS_REPLICA,
        .role_taken = phase == PHASE_PROMOTING,
        .vm_read = true,
        .vm_refreshed = true,
        .instance = &w->vm,
        .disk_id = DISK,
    };
}

/* ---- what happens ---- */

static void no_primary_elsewhere(struct world *w)
{
    w->in.primary_attached = false;
}

static void primary_elsewhere_waits(struct world *w)
{
    no_primary_elsewhere(w);
    w->in.primary_waits = w->in.wanted == ROLE_IS_REPLICA;
}

static void delete_object(struct world *w)
{
    w->in.deleting = true;
}

static void delete_volume(struct world *w)
{
    w->in.volume_ready = false;
}

static void free_role(struct world *w)
{
    w->in.role_taken = false;
}

static void attach(struct world *w)
{
    set_disk(w, true);
}

static void fail_attach(struct world *w)
{
    set_disk(w, true);
    w->vm.state = CLOUD_INSTANCE_FAILED;
}

static void lose_disk(struct world *w)
{
    set_disk(w, false);
    w->in.verified = false;
}

static void lose_node(struct world *w)
{
    w->in.node_exists = false;
}

static void change_leader(struct world *w)
{
    w->in.vm_read = false;
    w->in.verified = false;
}

static void nothing(struct world *w)
{
    (void)w;
}

static void (*const happen[ATTACHMENT_EVENTS])(struct world *w) = {
    [ON_PUBLISH] = no_primary_elsewhere,
    [ON_PUBLISH_ELSEWHERE] = primary_elsewhere_waits,
    [ON_UNPUBLISH_KEEPING] = nothing,
    [ON_UNPUBLISH] = nothing,
    [ON_COLLECTION_DUE] = no_primary_elsewhere,
    [ON_DELETE] = delete_object,
    [ON_VOLUME_DELETED] = delete_volume,
    [ON_PRIMARY_ATTACHED] = nothing, /* a replica's is, from the start */
    [ON_ROLE_FREE] = free_role,
    [ON_ATTACHED] = attach,
    [ON_ATTACH_FAILED] = fail_attach,
    [ON_DISK_GONE] = lose_disk,
    [ON_NODE_UNREACHABLE] = nothing, /* nobody asks the node */
    [ON_NODE_GONE] = lose_node,
    [ON_NODE_GONE_UNPUBLISHED] = lose_node,
    [ON_LEADER_CHANGED] = change_leader,
};

static void carry_out(struct world *w, enum attachment_answer answer)
{
    switch (answer) {
    case ANSWER_CREATE:
        put_into(w, PHASE_PRIMARY_PENDING);
        break;
    case ANSWER_PROMOTE:
        w->in.wanted = ROLE_IS_PRIMARY;
        break;
    case ANSWER_DEMOTE:
        w->in.wanted = ROLE_IS_REPLICA;
        break;
    case ANSWER_DETACH:
        w->in.detach_requested = true;
        w->in.deleting = true;
        break;
    case ANSWER_RELEASE:
        w->in.deleting = true;
        break;
    case ANSWER_NOTHING:
    case ANSWER_WAIT:
    case ANSWER_BUSY:
    case ANSWER_REFUSE:
    case ANSWER_REPLACE: /* only if another node can take it */
        break;
    }
}

/* A step that changes the record; the others leave the phase as it is. */
static void take(struct world *w, struct attachment_plan plan)
{
    switch (plan.step) {
    case STEP_RECORD_ATTACHING:
        w->in.state = ATTACHMENT_ATTACHING;
        w->in.role = w->in.wanted;
        break;
    case STEP_RECORD_ATTACHED:
        w->in.state = ATTACHMENT_ATTACHED;
        w->in.role = w->in.wanted;
        break;
    case STEP_RECORD_ROLE:
        w->in.role = w->in.wanted;
        break;
    case STEP_RECORD_LOST:
        w->in.state = ATTACHMENT_NEW;
        w->in.lun = NO_LUN;
        break;
    case STEP_RECORD_DETACHING:
        w->in.state = ATTACHMENT_DETACHING;
        break;
    case STEP_REMOVE_FINALIZER:
        w->absent = true;
        break;
    default:
        break;
    }
}

static void test_every_cell(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (int event = 0; event < ATTACHMENT_EVENTS; event++)
        for (int phase = 0; phase < ATTACHMENT_PHASES; phase++) {
            const struct attachment_transition *cell = attachment_transition(event, phase);
            struct attachment_plan plan = {.step = STEP_NONE, .lun = NO_LUN};
            struct world w;

            put_into(&w, phase);
            if (!w.absent)
                assert_int_equal(attachment_phase(&w.in), phase);
            happen[event](&w);
            carry_out(&w, cell->answer);
            if (!w.absent)
                plan = attachment_next(&w.in);
            take(&w, plan);
            enum attachment_phase after = w.absent ? PHASE_ABSENT : attachment_phase(&w.in);
            if (plan.step == cell->step && after == cell->after)
                continue;
            print_error("event %d, phase %d: step %d to phase %d, the table says %d to %d\n", event,
                        phase, plan.step, after, cell->step, cell->after);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

/* ---- answers that the table gives ---- */

static bool is_published(enum attachment_phase phase)
{
    return phase == PHASE_PRIMARY_PENDING || phase == PHASE_PRIMARY_ATTACHING ||
           phase == PHASE_PRIMARY_ATTACHED || phase == PHASE_PROMOTING ||
           phase == PHASE_DELETED_WHILE_PUBLISHED;
}

/* Who lets go of a published disk has been told that it is unpublished, or has found that neither
 * its Node nor a VolumeAttachment is there. The record alone may go, and is made anew. */
static void test_a_published_disk_stays(void **state)
{
    (void)state;
    for (int event = 0; event < ATTACHMENT_EVENTS; event++)
        for (int phase = 0; phase < ATTACHMENT_PHASES; phase++) {
            const struct attachment_transition *cell = attachment_transition(event, phase);
            bool may = event == ON_UNPUBLISH || event == ON_UNPUBLISH_KEEPING ||
                       event == ON_NODE_GONE_UNPUBLISHED;

            if (is_published(phase) && !may)
                assert_true((is_published(cell->after) || cell->step == STEP_REMOVE_FINALIZER) &&
                            cell->answer != ANSWER_RELEASE && cell->answer != ANSWER_DETACH);
        }
}

/* A record that was deleted by hand and is being made anew, deleted by hand again. */
static void test_what_is_to_be_promoted_stays_too(void **state)
{
    struct world w;

    (void)state;
    put_into(&w, PHASE_REPLICA_ATTACHED);
    w.in.published = true;
    assert_int_equal(attachment_phase(&w.in), PHASE_REPLICA_ATTACHED);
    w.in.deleting = true;
    assert_int_equal(attachment_phase(&w.in), PHASE_DELETED_WHILE_PUBLISHED);
    assert_int_equal(attachment_next(&w.in).step, STEP_REMOVE_FINALIZER);
    w.in.detach_requested = true;
    assert_int_equal(attachment_phase(&w.in), PHASE_LEAVING);
}

/* A volume that is deleted releases what the volume's own plan releases. */
static void test_a_volume_that_goes(void **state)
{
    (void)state;
    for (int phase = PHASE_ABSENT + 1; phase < ATTACHMENT_PHASES; phase++) {
        struct world w;

        put_into(&w, phase);
        struct volume_snapshot volume = {.deleting = true,
                                         .has_finalizer = true,
                                         .created = true,
                                         .primaries = !w.in.deleting && is_published(phase),
                                         .others = !w.in.deleting && !is_published(phase),
                                         .leaving = w.in.deleting};
        bool released = attachment_transition(ON_VOLUME_DELETED, phase)->answer == ANSWER_RELEASE;
        assert_int_equal(volume_next(&volume) == VOLUME_RELEASE, released);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cell),
        cmocka_unit_test(test_a_published_disk_stays),
        cmocka_unit_test(test_what_is_to_be_promoted_stays_too),
        cmocka_unit_test(test_a_volume_that_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
