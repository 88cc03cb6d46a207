/* What an attachment that looks for a place on a VM is told of its neighbours. */
#include "controller/attachment/snapshot.h"

#include "controller/leading.h"
#include "lib/rt/loop.h"
#include "test/unit/controller/controller_of.h"

enum { RESERVED = 5 };

/* On node a: a primary that has no LUN on record, beside a replica that looks for a place. */
#define CLUSTER_TEXT(primary)                                                                      \
    "{'volumes':[" VOLUME("v", "1") "," VOLUME("r", "1") "],"                                      \
                                                         "'attachments':[" primary                 \
                                                         "," ATTACHMENT("r", "a", "Replica", "",   \
                                                                        "", "", "") "]}"
#define WITHOUT_LUN CLUSTER_TEXT(ATTACHMENT("v", "a", "Primary", "", "", "", ""))

/* clang-format off */
static const struct {
    const char *why, *cluster;
    struct reservation reservation; /* of no node: there is none */
    bool waits, taken;
} rows[] = {
    {"nobody is recording anything", WITHOUT_LUN, {.lun = NO_LUN}, true, false},
    {"its LUN is being recorded", WITHOUT_LUN,
     {.node = "a", .volume = "v", .lun = RESERVED}, false, true},
    {"that it is the primary is being recorded", WITHOUT_LUN,
     {.node = "a", .volume = "v", .lun = NO_LUN, .primary = true}, true, false},
    {"the LUN of another one is being recorded", WITHOUT_LUN,
     {.node = "a", .volume = "w", .lun = RESERVED}, true, true},
    {"the LUN of its volume on another node is being recorded", WITHOUT_LUN,
     {.node = "b", .volume = "v", .lun = RESERVED}, true, false},
    {"it has a LUN", CLUSTER_TEXT(ATTACHMENT("v", "a", "Primary", "", "Attaching", "5", "")),
     {.lun = NO_LUN}, false, true},
    {"it is a replica", CLUSTER_TEXT(ATTACHMENT("v", "a", "Replica", "", "", "", "")),
     {.lun = NO_LUN}, false, false},
};
/* clang-format on */

/* In that cluster, while that is reserved. */
static void in_cluster(const char *cluster, struct reservation reservation,
                       void (*look)(size_t i, struct controller *controller), size_t i)
{
    json_t *json = json_of(cluster);
    struct cluster_view view = view_of(json);
    struct controller controller = controller_of(&view);
    struct leading leading = {0};

    list_init(&leading.reservations);
    controller.leading = &leading;
    controller.loop = loop_new_virtual(1);
    if (reservation.node)
        list_append(&leading.reservations, &reservation.link);
    look(i, &controller);
    loop_free(controller.loop);
    controller_fini(&controller);
    view_free(&view);
    json_decref(json);
}

static void look_for_place(size_t i, struct controller *controller)
{
    struct attachment_work work = {0};

    assert_true(attachment_work_gather(controller, "r-a", &work));
    attachment_work_gather_neighbours(&work);
    assert_int_equal(work.in.n_neighbours, 1);
    if (work.in.neighbours[0].waits != rows[i].waits ||
        work.in.luns_taken[RESERVED] != rows[i].taken)
        fail_msg("%s: waits %d, LUN taken %d", rows[i].why, work.in.neighbours[0].waits,
                 work.in.luns_taken[RESERVED]);
    attachment_work_fini(&work);
}

/* One whose LUN is being recorded has its place: counted as one that waits, too, it would have two,
 * and a replica would be refused a place that there is. */
static void test_a_place_counts_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        in_cluster(rows[i].cluster, rows[i].reservation, look_for_place, i);
}

/* ---- shares of a disk ---- */

#define WITH_SIBLING(state, lun)                                                                   \
    "{'volumes':[" VOLUME("v", "1") "],'attachments':[" ATTACHMENT(                                \
        "v", "a", "Primary", "", "", "", "") "," ATTACHMENT("v", "b", "Replica", "", state, lun,   \
                                                            "") "]}"

/* clang-format off */
static const struct {
    const char *why, *cluster;
    struct reservation reservation;
    unsigned shares;
} shares[] = {
    {"it has a LUN", WITH_SIBLING("Attaching", "5"), {.lun = NO_LUN}, 1},
    {"it has none", WITH_SIBLING("", ""), {.lun = NO_LUN}, 0},
    {"it is being recorded", WITH_SIBLING("", ""), {.node = "b", .volume = "v", .lun = RESERVED}, 1},
    {"it is on record, and who has written it does not know yet", WITH_SIBLING("Attaching", "5"),
     {.node = "b", .volume = "v", .lun = RESERVED}, 1},
    {"another one is being recorded", WITH_SIBLING("Attaching", "5"),
     {.node = "c", .volume = "v", .lun = RESERVED}, 2},
    {"one of another volume is", WITH_SIBLING("Attaching", "5"),
     {.node = "b", .volume = "w", .lun = RESERVED}, 1},
};
/* clang-format on */

static void look_for_shares(size_t i, struct controller *controller)
{
    struct attachment_work work = {0};

    assert_true(attachment_work_gather(controller, "v-a", &work));
    if (work.in.other_shares != shares[i].shares)
        fail_msg("%s: %u", shares[i].why, work.in.other_shares);
    attachment_work_fini(&work);
}

static void test_a_share_counts_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++)
        in_cluster(shares[i].cluster, shares[i].reservation, look_for_shares, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_place_counts_once),
        cmocka_unit_test(test_a_share_counts_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
