/* The limit of a container, wherever the kernel has it. */
#include "provisioner-lib/host/memory_limit.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

#define OWN (64 * MIB)

static const struct {
    const char *what;
    const char *own; /* /proc/self/cgroup */
    const char *files[4], *texts[4];
    uint64_t container, programs;
} rows[] = {
    {"version 2, as a container of its own",
     "0::/\n",
     {"memory.max"},
     {"536870912\n"},
     512 * MIB,
     512 * MIB - OWN},
    {"version 2, as a privileged container",
     "0::/kubepods.slice/pod1/c1\n",
     {"kubepods.slice/pod1/c1/memory.max", "kubepods.slice/pod1/memory.max",
      "kubepods.slice/memory.max"},
     {"209715200\n", "max\n", "34359738368\n"},
     200 * MIB,
     200 * MIB - OWN},
    {"version 2, limited by its pod",
     "0::/kubepods.slice/pod1/c1\n",
     {"kubepods.slice/pod1/c1/memory.max", "kubepods.slice/pod1/memory.max"},
     {"max\n", "104857600\n"},
     100 * MIB,
     100 * MIB - OWN},
    {"version 2, no limit", "0::/pod1\n", {"pod1/memory.max"}, {"max\n"}, 0, 1000 * MIB},
    {"version 1",
     "9:pids:/x\n7:cpu,memory:/pod1/c1\n0::/\n",
     {"memory/pod1/c1/memory.limit_in_bytes", "memory/memory.limit_in_bytes"},
     {"209715200\n", "9223372036854771712\n"},
     200 * MIB,
     200 * MIB - OWN},
    {"version 1, of which the container sees its own only",
     "7:memory:/kubepods/pod1/c1\n",
     {"memory/memory.limit_in_bytes"},
     {"209715200\n"},
     200 * MIB,
     200 * MIB - OWN},
    {"version 1, no limit",
     "7:memory:/pod1\n",
     {"memory/pod1/memory.limit_in_bytes"},
     {"9223372036854771712\n"},
     0,
     1000 * MIB},
    {"hardly any", "0::/\n", {"memory.max"}, {"33554432\n"}, 32 * MIB, 0},
    {"no cgroups", "", {NULL}, {NULL}, 0, 1000 * MIB},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct memory_roots roots = {in_workplace("memory-%zu/cgroup", i),
                                     in_workplace("memory-%zu/proc", i)};
        struct memory_limit limit;

        write_below(roots.proc, "self/cgroup", rows[i].own);
        write_below(roots.proc, "meminfo", "MemTotal: 2048000 kB\nMemAvailable:    1024000 kB\n");
        for (size_t k = 0; k < 4 && rows[i].files[k]; k++)
            write_below(roots.cgroup, rows[i].files[k], rows[i].texts[k]);
        assert_ok(memory_limit_read(&roots, &limit));
        if (limit.container != rows[i].container || limit.programs != rows[i].programs)
            fail_msg("%s: %lu, of which %lu for programs", rows[i].what,
                     (unsigned long)limit.container, (unsigned long)limit.programs);
    }
}

/* Whatever it is: the real files are as they are expected to be. */
static void test_this_machine(void **state)
{
    struct memory_limit limit = {0};

    (void)state;
    assert_ok(memory_limit_read(&(struct memory_roots){"/sys/fs/cgroup", "/proc"}, &limit));
    assert_true(limit.programs > MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_this_machine),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
