#include "controller/attachment/publish_plan.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "test/unit/object.h"

/* ---- situations ---- */

static const struct {
    const char *why;
    enum attachment_phase here;
    bool on_record;
    enum attachment_phase elsewhere;
    bool single_writer;
    enum attachment_answer answer;
} rows[] = {
    {"the first publish", PHASE_ABSENT, false, PHASE_ABSENT, true, ANSWER_CREATE},
    {"beside a replica", PHASE_ABSENT, false, PHASE_REPLICA_ATTACHED, true, ANSWER_CREATE},
    {"on a replica's node", PHASE_REPLICA_ATTACHED, false, PHASE_DEMOTING, true, ANSWER_PROMOTE},
    {"while it is being attached", PHASE_REPLICA_ATTACHING, false, PHASE_ABSENT, true,
     ANSWER_PROMOTE},
    {"on the node that the pod returns to", PHASE_DEMOTING, true, PHASE_REPLICA_ATTACHED, true,
     ANSWER_PROMOTE},
    {"a second time", PHASE_PRIMARY_ATTACHED, true, PHASE_REPLICA_ATTACHED, true, ANSWER_WAIT},
    {"elsewhere", PHASE_ABSENT, false, PHASE_PRIMARY_ATTACHED, true, ANSWER_REFUSE},
    {"elsewhere, on a replica", PHASE_REPLICA_ATTACHED, false, PHASE_PRIMARY_PENDING, true,
     ANSWER_REFUSE},
    {"elsewhere, where the object was deleted under a pod", PHASE_ABSENT, false,
     PHASE_DELETED_WHILE_PUBLISHED, true, ANSWER_REFUSE},
    {"elsewhere, when the first is on its way out", PHASE_ABSENT, false, PHASE_LEAVING, true,
     ANSWER_CREATE},
    {"two at once: the one on record", PHASE_PRIMARY_ATTACHING, true, PHASE_PRIMARY_PENDING, true,
     ANSWER_WAIT},
    {"two at once: the other", PHASE_PRIMARY_PENDING, false, PHASE_PRIMARY_ATTACHING, true,
     ANSWER_REFUSE},
    {"two at once, before either is on record", PHASE_PRIMARY_PENDING, false, PHASE_PRIMARY_PENDING,
     true, ANSWER_REFUSE},
    {"for many writers", PHASE_ABSENT, false, PHASE_PRIMARY_ATTACHED, false, ANSWER_CREATE},
    {"during a detach", PHASE_LEAVING, true, PHASE_ABSENT, true, ANSWER_BUSY},
};

static void test_publish(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct publish_standing elsewhere[] = {{.phase = PHASE_REPLICA_ATTACHED},
                                               {.phase = rows[i].elsewhere}};
        struct publish_plan plan =
            publish_decide(&(struct publish_snapshot){.here = {rows[i].here, rows[i].on_record},
                                                      .elsewhere = elsewhere,
                                                      .n_elsewhere = 2,
                                                      .single_writer = rows[i].single_writer});

        if (plan.answer != rows[i].answer)
            fail_msg("%s: answer %d instead of %d", rows[i].why, plan.answer, rows[i].answer);
        if (plan.answer == ANSWER_REFUSE)
            assert_int_equal(plan.holder, 1);
        assert_false(plan.gives_back);
    }
}

/* Among others that wait, the one on record is whom the role is given back to. */
static void test_who_gives_back(void **state)
{
    struct publish_standing elsewhere[] = {{.phase = PHASE_PRIMARY_PENDING},
                                           {.phase = PHASE_PRIMARY_ATTACHED, .on_record = true},
                                           {.phase = PHASE_PROMOTING}};
    struct publish_snapshot in = {
        .elsewhere = elsewhere, .n_elsewhere = COUNT_OF(elsewhere), .single_writer = true};

    (void)state;
    for (int phase = 0; phase < ATTACHMENT_PHASES; phase++) {
        bool published = phase == PHASE_PRIMARY_PENDING || phase == PHASE_PRIMARY_ATTACHING ||
                         phase == PHASE_PRIMARY_ATTACHED || phase == PHASE_PROMOTING;

        in.here.phase = phase;
        struct publish_plan plan = publish_decide(&in);
        assert_int_equal(plan.gives_back, published);
        if (plan.answer == ANSWER_REFUSE)
            assert_int_equal(plan.holder, 1);
    }
    in.here = (struct publish_standing){.phase = PHASE_PROMOTING};
    elsewhere[1].phase = PHASE_DEMOTING; /* on record still, but on its way out */
    assert_false(publish_decide(&in).gives_back);
    elsewhere[1].phase = PHASE_PRIMARY_ATTACHED;
    in.here.on_record = true; /* of a record that is wrong, nobody gives anything up */
    assert_false(publish_decide(&in).gives_back);
}

static void test_unpublish(void **state)
{
    (void)state;
    assert_int_equal(unpublish_decide(PHASE_PRIMARY_ATTACHED, true), ANSWER_DEMOTE);
    assert_int_equal(unpublish_decide(PHASE_PRIMARY_ATTACHED, false), ANSWER_DETACH);
    assert_int_equal(unpublish_decide(PHASE_PRIMARY_ATTACHING, false), ANSWER_DETACH);
    /* It may be on record as a replica only until recovery has promoted it. */
    assert_int_equal(unpublish_decide(PHASE_REPLICA_ATTACHED, true), ANSWER_DEMOTE);
    assert_int_equal(unpublish_decide(PHASE_REPLICA_ATTACHED, false), ANSWER_DETACH);
    assert_int_equal(unpublish_decide(PHASE_DEMOTING, true), ANSWER_NOTHING);
    assert_int_equal(unpublish_decide(PHASE_DELETED_WHILE_PUBLISHED, true), ANSWER_DETACH);
    assert_int_equal(unpublish_decide(PHASE_ABSENT, true), ANSWER_NOTHING);
}

/* ---- a disk on three nodes, and callers that cross ---- */

enum { NODES_THERE = 3, SEEDS = 2000, TURNS = 60 };

struct node {
    struct attachment_snapshot in; /* of `there` */
    struct cloud_instance vm;
    struct cloud_slot slot;
    bool there, published; /* as CSI's caller knows it */
};

struct world {
    struct node nodes[NODES_THERE];
    bool keeps;
};

static enum attachment_phase phase_of(const struct node *node)
{
    return node->there ? attachment_phase(&node->in) : PHASE_ABSENT;
}

static struct publish_standing standing_of(const struct node *node)
{
    return (struct publish_standing){.phase = phase_of(node),
                                     .on_record = node->there && node->in.role == ROLE_IS_PRIMARY};
}

/* `seen`: what is elsewhere, as it was a while ago: another replica of the controller may not have
 * heard of a publish yet. */
static void publish(struct world *w, size_t here, const struct world *seen)
{
    struct publish_standing elsewhere[NODES_THERE];
    struct node *node = &w->nodes[here];
    struct publish_snapshot in = {
        .here = standing_of(node), .elsewhere = elsewhere, .single_writer = true};

    for (size_t i = 0; i < NODES_THERE; i++)
        if (i != here)
            elsewhere[in.n_elsewhere++] = standing_of(&seen->nodes[i]);
    struct publish_plan plan = publish_decide(&in);
    switch (plan.answer) {
    case ANSWER_REFUSE:
        if (plan.gives_back) {
            node->in.wanted = ROLE_IS_REPLICA;
            node->published = false;
        }
        return;
    case ANSWER_CREATE:
        *node = (struct node){.there = true,
                              .in = {.has_finalizer = true,
                                     .lun = NO_LUN,
                                     .node_exists = true,
                                     .volume_ready = true,
                                     .max_shares = NODES_THERE}};
        /* fallthrough */
    case ANSWER_PROMOTE:
        node->in.wanted = ROLE_IS_PRIMARY;
        /* fallthrough */
    case ANSWER_WAIT:
        node->published = true;
        return;
    default:
        return;
    }
}

static void unpublish(struct world *w, size_t here)
{
    struct node *node = &w->nodes[here];

    switch (unpublish_decide(phase_of(node), w->keeps)) {
    case ANSWER_DEMOTE:
        node->in.wanted = ROLE_IS_REPLICA;
        break;
    case ANSWER_DETACH:
        node->in.deleting = node->in.detach_requested = true;
        break;
    default:
        break;
    }
    node->published = false;
}

static void gather(struct world *w, size_t here)
{
    struct node *node = &w->nodes[here];

    node->in.role_taken = node->in.primary_attached = node->in.primary_waits = false;
    node->vm = (struct cloud_instance){.state = CLOUD_INSTANCE_SETTLED, .max_disks = 4};
    node->vm.slots = &node->slot;
    node->vm.n_slots = node->slot.disk_id ? 1 : 0;
    node->in.vm_read = node->in.vm_refreshed = true;
    node->in.instance = &node->vm;
    node->in.disk_id = "disk";
    for (size_t i = 0; i < NODES_THERE; i++) {
        const struct node *other = &w->nodes[i];

        if (i == here || !other->there)
            continue;
        node->in.role_taken |= other->in.role == ROLE_IS_PRIMARY;
        if (other->in.wanted != ROLE_IS_PRIMARY || other->in.deleting)
            continue;
        node->in.primary_attached |= other->in.state == ATTACHMENT_ATTACHED;
        node->in.primary_waits |= other->in.state != ATTACHMENT_ATTACHED;
    }
}

static void reconcile(struct world *w, size_t here)
{
    struct node *node = &w->nodes[here];

    if (!node->there)
        return;
    gather(w, here);
    struct attachment_plan plan = attachment_next(&node->in);
    switch (plan.step) {
    case STEP_RECORD_ATTACHING:
        node->in.state = ATTACHMENT_ATTACHING;
        node->in.lun = plan.lun;
        node->in.role = node->in.wanted;
        break;
    case STEP_ATTACH:
        node->slot = (struct cloud_slot){.disk_id = (char *)(uintptr_t) "disk", .lun = plan.lun};
        break;
    case STEP_RECORD_ATTACHED:
        node->in.state = ATTACHMENT_ATTACHED;
        node->in.role = node->in.wanted;
        break;
    case STEP_RECORD_ROLE:
        node->in.role = node->in.wanted;
        break;
    case STEP_VERIFIED:
        node->in.verified = true;
        break;
    case STEP_RECORD_DETACHING:
        node->in.state = ATTACHMENT_DETACHING;
        break;
    case STEP_DETACH:
        assert_false(node->published);
        node->slot.disk_id = NULL;
        break;
    case STEP_REMOVE_FINALIZER:
        *node = (struct node){0};
        break;
    default:
        break;
    }
}

static unsigned count(const struct world *w, bool on_record)
{
    unsigned n = 0;

    for (size_t i = 0; i < NODES_THERE; i++) {
        const struct node *node = &w->nodes[i];

        n += on_record ? node->there && node->in.role == ROLE_IS_PRIMARY : node->published;
    }
    return n;
}

/* The caller gives up on all nodes but one, and asks again there until it has the disk. */
static void settle(struct world *w, size_t here)
{
    for (size_t i = 0; i < NODES_THERE; i++)
        if (i != here)
            unpublish(w, i);
    for (int turn = 0; turn < TURNS; turn++) {
        publish(w, here, w);
        for (size_t i = 0; i < NODES_THERE; i++)
            reconcile(w, i);
    }
    assert_int_equal(phase_of(&w->nodes[here]), PHASE_PRIMARY_ATTACHED);
    assert_true(w->nodes[here].published);
    assert_int_equal(count(w, true), 1);
}

static void test_callers_that_cross(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct world w = {.keeps = seed % 2}, seen = w;
        unsigned r = seed;

        for (int turn = 0; turn < TURNS; turn++) {
            size_t here = (size_t)rand_r(&r) % NODES_THERE;

            switch (rand_r(&r) % 5) {
            case 0:
                publish(&w, here, rand_r(&r) % 2 ? &w : &seen);
                break;
            case 1:
                unpublish(&w, here);
                break;
            default:
                reconcile(&w, here);
                break;
            }
            if (rand_r(&r) % 4 == 0)
                seen = w;
            if (count(&w, true) > 1)
                fail_msg("seed %u: two primaries on record", seed);
        }
        settle(&w, seed % NODES_THERE);
    }
}

static void test_another_access(void **state)
{
    (void)state;
    for (int answered = 0; answered < 2; answered++)
        for (int read_only = 0; read_only < 2; read_only++) {
            assert_int_equal(publish_access_decide(read_only, read_only, answered), ACCESS_AGREES);
            assert_int_equal(publish_access_decide(read_only, !read_only, answered),
                             answered ? ACCESS_CONFLICT : ACCESS_CHANGE);
        }
}

/* ---- what has failed ---- */

/* clang-format off */
#define RECORD(role, state, code, message) \
    "{'metadata':{'name':'v-a'},'status':{'state':'" state "','detail':{'role':'" role "'}," \
    "'error':{'code':'" code "','message':'" message "'}}}"
#define FAILED(role, code, message) RECORD(role, "AttachmentFailed", code, message)
#define OLD FAILED("Replica", "INTERNAL", "old")

static const struct {
    const char *why, *promoted, *now; /* promoted: NULL if it was not */
    const char *message;              /* NULL: nothing has failed */
} failures[] = {
    {"under way", NULL, RECORD("Primary", "Attaching", "INTERNAL", "old"), NULL},
    {"failed", NULL, FAILED("Primary", "INTERNAL", "old"), "old"},
    {"what was asked for before has failed", NULL, OLD, "old"},
    {"the replica had failed", OLD, OLD, NULL},
    {"before it had a role", "{'metadata':{'name':'v-a'},'status':{'state':'AttachmentFailed','error':{'code':'INTERNAL','message':'old'}}}",
     "{'metadata':{'name':'v-a'},'status':{'state':'AttachmentFailed','error':{'code':'INTERNAL','message':'old'}}}", NULL},
    {"the replica was under way", RECORD("Replica", "Attaching", "INTERNAL", "old"), OLD, "old"},
    {"the primary has failed likewise", OLD, FAILED("Primary", "INTERNAL", "old"), "old"},
    {"it has failed in another way", OLD, FAILED("Replica", "INTERNAL", "new"), "new"},
    {"it has failed with another code", OLD, FAILED("Replica", "RESOURCE_EXHAUSTED", "old"), "old"},
};
/* clang-format on */

static void test_failures(void **state)
{
    const ProtobufCMessageDescriptor *type = &api__az_volume_attachment__descriptor;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *now = object_of(type, failures[i].now);
        CLEANUP(kube_object_unrefp)
        struct kube_object *promoted =
            failures[i].promoted ? object_of(type, failures[i].promoted) : NULL;
        const Api__AzError *failure =
            publish_failure(KUBE_AS(Api__AzVolumeAttachment, now),
                            promoted ? KUBE_AS(Api__AzVolumeAttachment, promoted) : NULL);

        if (!same_text(failure ? failure->message : NULL, failures[i].message))
            fail_msg("%s: %s", failures[i].why, failure ? failure->message : "nothing");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_publish),
        cmocka_unit_test(test_who_gives_back),
        cmocka_unit_test(test_unpublish),
        cmocka_unit_test(test_another_access),
        cmocka_unit_test(test_callers_that_cross),
        cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
