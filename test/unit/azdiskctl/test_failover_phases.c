/* Of what a failover's gap consisted: each row is what is on record of it. */
#include "azdiskctl/failover_phases.h"

#include "lib/base/text.h"
#include "test/unit/azdiskctl/cluster_of.h"

#define EVENT(kind, about, reason, time, note)                                                     \
    "{'metadata':{'name':'e'},'eventTime':'2026-01-01T00:" time "Z','reason':'" reason             \
    "','note':'" note "','regarding':{'kind':'" kind "','name':'" about "'}}"
#define NOTE(minute)                                                                               \
    "Nothing has been heard of node a since 2026-01-01T00:" minute                                 \
    ":00.000000Z . Whether it still writes was asked from 2026-01-01T00:" minute                   \
    ":08.100000Z on, and that it does not was proven at 2026-01-01T00:" minute                     \
    ":08.300000Z ; then it was given up"
#define DELETED                                                                                    \
    EVENT("AzVolume", "v", "FailedOver", "10:00.900000",                                           \
          "The Node of node a was deleted at 2026-01-01T00:10:00.400000Z . Whether it still "      \
          "writes was asked from 2026-01-01T00:10:00.400000Z on, and that it does not was proven " \
          "at 2026-01-01T00:10:00.700000Z ; then it was given up")
#define FAILED_OVER(minute) EVENT("AzVolume", "v", "FailedOver", minute ":08.400000", NOTE(minute))
#define PROMOTED(volume, time)                                                                     \
    EVENT("AzVolumeAttachment", volume "-b", "PromotedToPrimary", time, "")
#define CONDITION(type, status, time)                                                              \
    "{'type':'" type "','status':'" status "','lastTransitionTime':'2026-01-01T00:" time "Z'}"
#define POD(conditions)                                                                            \
    "'pods':[{'metadata':{'name':'p','namespace':'default'},'status':{'conditions':[" conditions   \
    "]}}],"
#define RUNS(scheduled, ready)                                                                     \
    POD(CONDITION("PodScheduled", "True", scheduled) "," CONDITION("Ready", "True", ready))
#define OF(pod, events)                                                                            \
    "{" pod "'volumes':[" VOLUME("v", "1") "],'attachments':[" ATTACHED(                           \
        "v", "b", "Primary", "0") "," ATTACHED("w", "b", "Primary", "1") "],'events':[" events     \
                                                                         "]}"

#define BEGIN "detect 8.1 s, fence 0.2 s, taint 0.1 s"

/* clang-format off */
static const struct {
    const char *cluster;
    const char *text; /* of the only one; NULL: there is none */
} rows[] = {
    {OF(RUNS("10:09", "10:15"), FAILED_OVER("10") "," PROMOTED("v", "10:09.500000")),
     "from node a: 15.0 s (" BEGIN ", schedule 0.6 s, promote 0.5 s, mount and start 5.5 s)"},
    {OF(RUNS("10:08", "10:15"), FAILED_OVER("10") "," PROMOTED("v", "10:09.500000")),
     "from node a: 15.0 s (" BEGIN ", schedule 0.0 s, promote 1.1 s, mount and start 5.5 s)"},
    {OF("", FAILED_OVER("10")), "from node a: 8.4 s (" BEGIN "; the rest is not on record)"},
    {OF(POD(CONDITION("PodScheduled", "True", "10:09") "," CONDITION("Ready", "False", "10:09")),
        FAILED_OVER("10") "," PROMOTED("v", "10:10.400000")),
     "from node a: 10.4 s (" BEGIN ", schedule 0.6 s, promote 1.4 s; the rest is not on record)"},
    /* another volume's promotion, one of before, and a pod that has been there for longer */
    {OF(RUNS("10:07", "10:15"),
        FAILED_OVER("10") "," PROMOTED("w", "10:09.500000") "," PROMOTED("v", "10:01.000000")),
     "from node a: 8.4 s (" BEGIN "; the rest is not on record)"},
    /* of two promotions the first */
    {OF("", FAILED_OVER("10") "," PROMOTED("v", "10:40.000000") "," PROMOTED("v", "10:09.400000")),
     "from node a: 9.4 s (" BEGIN ", promote 1.0 s; the rest is not on record)"},
    {OF("", DELETED), "from node a: 0.5 s (detect 0.0 s, fence 0.3 s, taint 0.2 s; the rest is not on record)"},
    {OF("", EVENT("Node", "v", "FailedOver", "10:08.400000", NOTE("10"))), NULL},
    {OF("", EVENT("AzVolume", "w", "FailedOver", "10:08.400000", NOTE("10"))), NULL},
    {OF("", EVENT("AzVolume", "v", "FailedOver", "10:08.400000", "by hand")), NULL},
    {OF("", EVENT("AzVolume", "v", "Other", "10:08.400000", NOTE("10"))), NULL},
};
/* clang-format on */

static struct failover_gaps gaps_in(const struct cluster *cluster)
{
    return failover_gaps_of(cluster, cluster->view.volumes.items[0],
                            cluster->pods.n ? cluster->pods.items[0] : NULL);
}

static void test_gaps(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(rows[i].cluster);
        CLEANUP(failover_gaps_fini) struct failover_gaps gaps = gaps_in(&cluster);

        if (gaps.n != (rows[i].text != NULL))
            fail_msg("row %zu: %zu", i, gaps.n);
        if (gaps.n && !same_text(gaps.items[0].text, rows[i].text))
            fail_msg("row %zu: %s", i, gaps.items[0].text);
    }
}

/* What follows the second one is not the first one's. */
static void test_two_failovers(void **state)
{
    CLEANUP(cluster_of_free)
    struct cluster cluster = cluster_of(
        OF(RUNS("20:09", "20:15"), FAILED_OVER("20") "," FAILED_OVER("10") "," PROMOTED(
                                       "v", "20:09.400000") "," PROMOTED("v", "10:09.400000")));
    CLEANUP(failover_gaps_fini) struct failover_gaps gaps = gaps_in(&cluster);

    (void)state;
    assert_int_equal(gaps.n, 2);
    assert_string_equal(gaps.items[0].text, "from node a: 15.0 s (" BEGIN
                                            ", schedule 0.6 s, promote 0.4 s, mount and start "
                                            "5.6 s)");
    assert_string_equal(gaps.items[1].text,
                        "from node a: 9.4 s (" BEGIN ", promote 1.0 s; the rest is not on record)");
    assert_true(gaps.items[0].end_us > gaps.items[1].end_us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_two_failovers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
