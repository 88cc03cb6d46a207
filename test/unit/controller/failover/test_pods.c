/* Which volumes of a silent node can be moved with their pods: of each, whether it is to be asked
 * for, and whether it moves. */
#include "controller/failover/pods.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { MOST = 3 };

#define PROVEN                                                                                     \
    {                                                                                              \
        .wanted = true, .fenced = true, .proven = true                                             \
    }
#define PROVABLE                                                                                   \
    {                                                                                              \
        .wanted = true, .fenced = true, .n_replicas = 1                                            \
    }
#define ALONE                                                                                      \
    {                                                                                              \
        .wanted = true, .fenced = true                                                             \
    }
#define UNWANTED                                                                                   \
    {                                                                                              \
        .fenced = true, .proven = true                                                             \
    }
#define UNFENCED                                                                                   \
    {                                                                                              \
        .wanted = true, .n_replicas = 1                                                            \
    }
#define POD(...)                                                                                   \
    {                                                                                              \
        .volumes = (size_t[]){__VA_ARGS__}, .n_volumes = COUNT_OF(((size_t[]){__VA_ARGS__}))       \
    }
#define FOREIGN(...)                                                                               \
    {                                                                                              \
        .foreign = true, .volumes = (size_t[]){__VA_ARGS__},                                       \
        .n_volumes = COUNT_OF(((size_t[]){__VA_ARGS__}))                                           \
    }

static const struct {
    const char *what;
    struct failover_volume volumes[MOST];
    struct failover_pod pods[MOST];
    size_t n_volumes, n_pods;
    const char *may_move, *moves; /* '1' for each volume that does */
} rows[] = {
    {"one pod of each", {PROVEN, PROVABLE, ALONE}, {POD(0), POD(1), POD(2)}, 3, 3, "110", "100"},
    {"what nobody uses", {PROVEN, PROVABLE}, {{0}}, 2, 0, "11", "10"},
    {"what is not wanted, or has no fence",
     {UNWANTED, UNFENCED},
     {POD(0), POD(1)},
     2,
     2,
     "00",
     "00"},
    {"a pod of two, one of which may be proven", {PROVEN, PROVABLE}, {POD(0, 1)}, 2, 1, "11", "00"},
    {"a pod of two, one of which nobody can prove", {PROVEN, ALONE}, {POD(0, 1)}, 2, 1, "00", "00"},
    {"another driver's", {PROVEN, PROVEN}, {FOREIGN(0), POD(1)}, 2, 2, "01", "01"},
    {"another driver's alone", {PROVEN}, {{.foreign = true}}, 1, 1, "1", "1"},
    {"who shares a volume with that", {PROVEN, PROVEN}, {POD(0, 1), FOREIGN(1)}, 2, 2, "00", "00"},
    {"and who shares one with him",
     {PROVEN, PROVEN, PROVEN},
     {POD(0, 1), POD(1, 2), FOREIGN(2)},
     3,
     3,
     "000",
     "000"},
    {"two that share all", {PROVEN, PROVEN}, {POD(0, 1), POD(1)}, 2, 2, "11", "11"},
};

static void test_marks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failover_volume volumes[MOST];

        memcpy(volumes, rows[i].volumes, sizeof volumes);
        failover_pods_mark(rows[i].pods, rows[i].n_pods, volumes, rows[i].n_volumes);
        for (size_t k = 0; k < rows[i].n_volumes; k++)
            if (volumes[k].may_move != (rows[i].may_move[k] == '1') ||
                volumes[k].moves != (rows[i].moves[k] == '1'))
                fail_msg("%s: volume %zu may move: %d, moves: %d", rows[i].what, k,
                         volumes[k].may_move, volumes[k].moves);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
