/* Snapshots and what is made from them, as scripts (script.h): a new rule is a new row. */
#include "test/azsim/model/snapshot.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/model/script.h"

struct row {
    const char *why, *script;
};

static const struct row rows[] = {
    {"a snapshot has what its disk had, and lives on without it", "disk a 20\n"
                                                                  "snapshot s a\n"
                                                                  "kept s 20 100\n"
                                                                  "devices a>s\n"
                                                                  "delete a\n"
                                                                  "wait 1s\n"
                                                                  "restore b s\n"
                                                                  "copied b 20 100\n"
                                                                  "devices xa s>b\n"
                                                                  "forget s\n"
                                                                  "kept s gone\n"
                                                                  "devices xs\n"
                                                                  "state b Unattached\n"},
    {"a disk from a disk, in the same zone", "disk a 20\n"
                                             "restore b a\n"
                                             "devices a>b\n"
                                             "restore c a - Premium_LRS 2 -> BadRequest\n"},
    {"what is restored may be larger than its source, not smaller",
     "disk a 20\n"
     "snapshot s a full\n"
     "restore b s 19 -> InvalidParameter\n"
     "restore b s 64\n"
     "copied b 64 100\n"},
    {"the same again changes nothing, another source is refused",
     "disk a\ndisk b\n"
     "snapshot s a\n"
     "snapshot s a\n"
     "devices a>s\n"
     "wait 1s\n"
     "snapshot s b -> PropertyChangeNotAllowed\n"
     "snapshot s a full -> PropertyChangeNotAllowed\n"},
    {"sources that do not exist or are not ready", "snapshot s a -> NotFound\n"
                                                   "restore b s -> NotFound\n"
                                                   "disk a\n"
                                                   "latency update=9s\n"
                                                   "grow a 20\n"
                                                   "snapshot s a -> Conflict\n"
                                                   "wait 7s\n"
                                                   "snapshot s a\n"},
    {"when the content cannot be copied nothing is made", "disk a\n"
                                                          "break a\n"
                                                          "snapshot s a -> InternalExecutionError\n"
                                                          "kept s gone\n"
                                                          "mend\n"
                                                          "snapshot s a\n"
                                                          "break s\n"
                                                          "restore b s -> InternalExecutionError\n"
                                                          "state b gone\n"},
    {"PremiumV2: incremental, complete after a while, and of no use until then",
     "disk p 20 1 PremiumV2_LRS\n"
     "snapshot s p full -> BadRequest\n"
     "snapshot s p\n"
     "kept s 20 1\n"
     "restore b s - PremiumV2_LRS -> OperationNotAllowed\n"
     "wait 49s\n"
     "kept s 20 50\n"
     "stop\nstart\n"
     "kept s 20 50\n"
     "wait 50s\n"
     "kept s 20 100\n"
     "restore b s -> BadRequest\n" /* 4096-byte sectors on a Premium disk */
     "restore b s - PremiumV2_LRS\n"
     "copied b 20 1\n"
     "attach vm1 b\n"
     "wait 10s\n"
     "grow b 30 -> OperationNotAllowed\n"
     "wait 90s\n"
     "copied b 20 100\n"
     "grow b 30\n"
     "copied b 30 100\n"},
    {"three snapshots of a disk that are not complete", "disk p 20 1 PremiumV2_LRS\n"
                                                        "snapshot s1 p\n"
                                                        "snapshot s2 p\n"
                                                        "snapshot s3 p\n"
                                                        "snapshot s4 p -> OperationNotAllowed\n"
                                                        "wait 100s\n"
                                                        "snapshot s4 p\n"},
    {"seven incremental snapshots of a disk in five minutes",
     "disk a\ndisk b\n"
     "snapshot s1 a\nsnapshot s2 a\nsnapshot s3 a\nsnapshot s4 a\nsnapshot s5 a\nsnapshot s6 a\n"
     "forget s6\n"
     "snapshot s7 a\n"
     "snapshot s8 a -> OperationNotAllowed\n"
     "snapshot f a full\n"
     "snapshot s8 b\n"
     "wait 300s\n"
     "snapshot s9 a\n"},
    {"a copy in another region, and one whose source goes",
     "disk a 20\n"
     "snapshot full a full\n"
     "snapshot c full start westus -> BadRequest\n"
     "snapshot c a start westus -> BadRequest\n"
     "snapshot s a\n"
     "snapshot c s start westus\n"
     "kept c 20 1 in westus\n"
     "wait 99s\n"
     "kept c 20 100 in westus\n"
     "snapshot d s start\n"
     "wait 70s\n"
     "kept d 20 71\n"
     "forget s\n"
     "wait 1000s\n"
     "kept d 20 72 stopped\n"
     "kept c 20 100 in westus\n"},
    {"PremiumV2: what is not complete fails when the disk grows",
     "disk p 20 1 PremiumV2_LRS\ndisk q 20 1 PremiumV2_LRS\n"
     "snapshot s p\n"
     "snapshot other q\n"
     "wait 98s\n"
     "kept s 20 100\n"
     "snapshot t p\n"
     "wait 9s\n"
     "grow p 30\n"
     "wait 200s\n"
     "kept s 20 100\n"
     "kept t 20 10 stopped\n"
     "kept other 20 100\n"},
    {"regions do not know what is in others",
     "disk a 20\n"
     "snapshot c a incremental westus -> NotFound\n"
     "snapshot s a\n"
     "snapshot c s incremental westus -> NotFound\n"
     "snapshot c s start mars -> LocationNotAvailableForResourceType\n"
     "snapshot c s start westus\n"
     "snapshot c s start northeurope -> InvalidResourceLocation\n"
     "wait 100s\n"
     "restore r c -> NotFound\n"
     "restore r s - - - westus -> NotFound\n"
     "restore r c 20 Premium_LRS 1 westus\n"
     "attach vm1 r -> NotFound\n"
     "stop\nstart\n"
     "kept c 20 100 in westus\n"
     "attach vm1 r -> NotFound\n"},
    {"a copy takes what is complete, instant or not",
     "disk p 20 1 PremiumV2_LRS\n"
     "snapshot s p\n"
     "snapshot c s start westus -> OperationNotAllowed\n"
     "wait 100s\n"
     "snapshot c s start westus\n"},
    {"the snapshots of a disk are copied one by one, in their order",
     "disk a 20\ndisk b 20\n"
     "snapshot s1 a\n"
     "snapshot s2 a\n"
     "snapshot s3 a\n"
     "snapshot other b\n"
     "snapshot c2 s2 start westus\n"
     "snapshot c3 s3 start westus -> OperationNotAllowed\n"
     "snapshot co other start westus\n"
     "stop\nstart\n"
     "snapshot c3 s3 start northeurope -> OperationNotAllowed\n"
     "wait 100s\n"
     "snapshot c1 s1 start westus -> BadRequest\n"
     "snapshot c1 s1 start northeurope\n"
     "forget s1\n"
     "snapshot c3 s3 start westus\n"},
    {"a creation and a deletion go on after a restart", "disk a\n"
                                                        "latency snapshot=10s\n"
                                                        "snapshot s a\n"
                                                        "operation 2 InProgress\n"
                                                        "stop\nstart\n"
                                                        "wait 9s\n"
                                                        "operation 2 Succeeded\n"
                                                        "latency delete=10s\n"
                                                        "forget s\n"
                                                        "stop\nstart\n"
                                                        "restore b s -> Conflict\n"
                                                        "wait 9s\n"
                                                        "kept s gone\n"},
};

static const struct row resizes[] = {
    {"a disk grows while it is attached", "disk a 10\n"
                                          "attach vm1 a\n"
                                          "wait 10s\n"
                                          "grow a 20\n"
                                          "copied a 20 100\n"
                                          "grow a 19 -> OperationNotAllowed\n"},
    {"not past 4 TiB, and a shared one not at all, unless its VM is deallocated",
     "disk a 4000\ndisk s 10 2\n"
     "attach vm1 a s\n"
     "wait 10s\n"
     "grow a 4095\n"
     "grow a 5000 -> OperationNotAllowed\n"
     "grow s 20 -> OperationNotAllowed\n"
     "power vm1 deallocated\n"
     "grow s 20\n"
     "power vm1 running\n"
     "detach vm1 a\n"
     "wait 5s\n"
     "grow a 5000\n"},
    {"beyond 4 TiB already", "disk a 5000\n"
                             "attach vm1 a\n"
                             "wait 10s\n"
                             "grow a 6000\n"},
};

static void run_rows(const struct row *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct world *world = world_new();

        print_message("  %s\n", list[i].why);
        world_run(world, list[i].script);
        world_free(world);
    }
}

static void test_snapshots(void **state)
{
    (void)state;
    run_rows(rows, COUNT_OF(rows));
}

static void test_resizes(void **state)
{
    (void)state;
    run_rows(resizes, COUNT_OF(resizes));
}

static void test_a_disk_has_so_many_incremental_snapshots_and_no_more(void **state)
{
    struct world *world = world_new();

    (void)state;
    world_run(world, "disk a\n");
    for (int i = 0; i < SNAPSHOT_MAX_INCREMENTAL; i++) {
        CLEANUP(freep) char *line = mem_printf("snapshot s%d a\nwait 60s\n", i);

        world_forget_operations(world);
        world_run(world, line);
    }
    world_run(world, "snapshot more a -> OperationNotAllowed\n"
                     "forget s0\n"
                     "snapshot more a\n");
    world_free(world);
}

/* Of two snapshots of one disk, one of another, and a copy. */
static void test_families(void **state)
{
    struct world *world = world_new();

    (void)state;
    world_run(world, "disk a\ndisk b\nsnapshot a1 a\nsnapshot a2 a\nsnapshot b1 b\n"
                     "snapshot c a1 start\n");
    const struct snapshot *found[4];
    size_t n = 0;
    HASH_FOREACH(world_model(world)->snapshots, snapshot) {
        found[n++] = snapshot;
    }
    assert_string_equal(found[0]->family_id, found[1]->family_id);
    assert_string_not_equal(found[0]->family_id, found[2]->family_id);
    assert_string_not_equal(found[0]->family_id, found[3]->family_id);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_resizes),
        cmocka_unit_test(test_a_disk_has_so_many_incremental_snapshots_and_no_more),
        cmocka_unit_test(test_families),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
