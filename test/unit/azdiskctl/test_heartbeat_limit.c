#include "azdiskctl/heartbeat_limit.h"

#include "lib/base/alloc.h"
#include "test/unit/cluster_text.h"
#include "test/unit/expect.h"

#define CONTAINER(command, arguments) "{'command':['" command "'],'args':[" arguments "]}"
#define DEPLOYMENT(...) "{'spec':{'template':{'spec':{'containers':[" __VA_ARGS__ "]}}}}"
#define CONTROLLER(arguments) DEPLOYMENT(CONTAINER("/bin/azdisk-controller", arguments))

static const struct {
    const char *items;
    uint64_t ms;
} rows[] = {
    {"", 0},
    {CONTROLLER("'--heartbeat-limit=10m'"), 10 * 60 * 1000},
    {CONTROLLER("'--v=2','--heartbeat-limit=1m30s','--driver-name=disk.csi.azure.com'"), 90 * 1000},
    {CONTROLLER("'--heartbeat-limit=1m','--heartbeat-limit=3m'"), 3 * 60 * 1000}, /* extraArgs */
    {CONTROLLER("'--v=2'"), 0},
    {CONTROLLER("'--heartbeat-limit=soon'"), 0},
    {CONTROLLER("'--heartbeat-limit=10m','--driver-name=other.example'"), 0},
    {CONTROLLER("'--heartbeat-limit=10m','--driver-name=other.example'") "," CONTROLLER(
         "'--heartbeat-limit=4m'"),
     4 * 60 * 1000},
    {DEPLOYMENT(CONTAINER("/bin/azdisk-scheduler-extender", "'--heartbeat-limit=10m'")), 0},
    {DEPLOYMENT("{'args':['--heartbeat-limit=10m']}"), 0},
    {DEPLOYMENT(CONTAINER("csi-attacher", "'--timeout=600s'") "," CONTAINER(
         "azdisk-controller", "'--heartbeat-limit=5m'")),
     5 * 60 * 1000},
    {"{},7,{'spec':[]}", 0},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = mem_printf("{'items':[%s]}", rows[i].items);
        CLEANUP(json_decrefp) json_t *list = json_of(text);

        assert_int_equal(heartbeat_limit_of(list, "disk.csi.azure.com"), rows[i].ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
