/* The buckets by themselves, and against Azure's own as azsim keeps them. */
#include "provisioner-lib/azure/token_buckets.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/throttle.h"
#include "test/unit/expect.h"

#define SECONDS *UINT64_C(1000)

/* Each row is a run on buckets of its own: a script of words, and when the next request would be
 * due, in seconds. "N*kind:vm" spends N; "@S" lets time go on to S; "limit=N" is what an answer
 * says is left; "!scope:S" is a refusal until S, "^scope:S" one with more from S on. The request is
 * of the last kind and VM. */
static const struct {
    const char *why, *script;
    unsigned due;
} rows[] = {
    {"a VM takes twelve updates at once", "11*u:a", 0},
    {"and no thirteenth within a minute, the way there included", "12*u:a", 61},
    {"a minute brings four", "12*u:a @61 3*u:a", 61},
    {"not more", "12*u:a @61 4*u:a", 121},
    {"what is not asked for adds up", "12*u:a @181 11*u:a", 181},
    {"to twelve and no further", "12*u:a @3600 12*u:a", 3661},
    {"another VM has buckets of its own", "12*u:a 11*u:b", 0},
    {"whatever the case of its name", "6*u:A 6*u:a", 61},
    {"looking at operations is counted by itself", "12*u:a 45*o:a", 61},
    {"all writes are counted together", "200*w:-", 2},
    {"and come back by the second", "200*w:- @2 10*w:-", 3},
    {"a VM's updates among them", "200*w:- 0*u:a", 2},
    {"but not its reads", "200*w:- 0*r:a", 0},
    {"others may have asked, too", "1*u:a UpdateVMResource=0", 61},
    {"whoever asks for what", "1*u:a UpdateVMSubscriptionMaximum=0 0*u:b", 61},
    {"more than we know of is not left", "12*u:a UpdateVMResource=7", 61},
    {"names that are not in the table say nothing", "1*u:a PutVM3Min=0", 0},
    {"a refusal counts for the VM", "1*u:a !0:17", 17},
    {"and for no other", "1*u:a !0:17 0*u:b", 0},
    {"or for the subscription", "1*u:a !1:17 0*u:b", 17},
    {"or for all writes", "1*u:a !2:17 0*w:-", 17},
    {"the longest counts", "1*u:a !0:17 !0:5", 17},
    {"and the bucket, if that takes longer", "12*u:a !0:17", 61},
    {"unless Azure says when more is added", "12*u:a !0:17 ^0:17", 17},
    {"which is what a period brings", "12*u:a !0:17 ^0:17 @17 3*u:a 0*u:a", 17},
    {"not more", "12*u:a !0:17 ^0:17 @17 4*u:a", 77},
    {"others have taken what was thought to be left", "1*u:a !0:17 ^0:17 @17 4*u:a", 77},
    {"whether for the VM or for all", "1*u:a ^1:17 0*u:b", 17},
    {"a refusal of what has no VM counts for all of the kind", "1*w:- !0:17", 17},
    {"one for long is not forgotten", "1*u:a !0:3000 @1200 0*u:b @1900 0*r:c 0*u:a", 3000},
};

struct run {
    struct token_buckets *buckets;
    enum arm_kind kind;
    char vm[8];
    uint64_t now;
};

static const char *resource_of(const struct run *run)
{
    return strcmp(run->vm, "-") == 0 ? NULL : run->vm;
}

static enum arm_kind kind_from(char letter)
{
    return letter == 'u'   ? ARM_VM_UPDATE
           : letter == 'r' ? ARM_VM_READ
           : letter == 'o' ? ARM_OPERATION_READ
                           : ARM_DISK_WRITE;
}

static void run_word(struct run *run, const char *word)
{
    unsigned number, scope;
    char kind, name[64];

    if (sscanf(word, "%u*%c:%7s", &number, &kind, run->vm) == 3) {
        run->kind = kind_from(kind);
        for (unsigned i = 0; i < number; i++) {
            assert_int_equal(token_buckets_due(run->buckets, run->kind, resource_of(run), run->now),
                             run->now);
            token_buckets_spend(run->buckets, run->kind, resource_of(run), run->now);
        }
    } else if (sscanf(word, "@%u", &number) == 1) {
        run->now = number SECONDS;
    } else if (sscanf(word, "!%u:%u", &scope, &number) == 2) {
        token_buckets_close(run->buckets, run->kind, resource_of(run), (enum bucket_scope)scope,
                            number SECONDS, run->now);
    } else if (sscanf(word, "^%u:%u", &scope, &number) == 2) {
        token_buckets_refill_at(run->buckets, run->kind, resource_of(run), (enum bucket_scope)scope,
                                number SECONDS, run->now);
    } else {
        assert_int_equal(sscanf(word, "%63[^=]=%u", name, &number), 2);
        token_buckets_note(run->buckets, run->kind, resource_of(run), name, number, run->now);
    }
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(token_buckets_freep) struct token_buckets *buckets = token_buckets_new();
        CLEANUP(freep) char *script = mem_strdup(rows[i].script);
        struct run run = {.buckets = buckets};
        char *position = NULL;

        for (char *word = strtok_r(script, " ", &position); word;
             word = strtok_r(NULL, " ", &position))
            run_word(&run, word);
        uint64_t due = token_buckets_due(buckets, run.kind, resource_of(&run), run.now);
        if (due != rows[i].due SECONDS)
            fail_msg("%s: expected %u s, got %.3f s", rows[i].why, rows[i].due, (double)due / 1000);
    }
}

static void test_what_is_left(void **state)
{
    CLEANUP(token_buckets_freep) struct token_buckets *buckets = token_buckets_new();

    (void)state;
    assert_int_equal(token_buckets_left(buckets, ARM_VM_UPDATE, BUCKET_RESOURCE, 0), 12);
    for (int i = 0; i < 5; i++)
        token_buckets_spend(buckets, ARM_VM_UPDATE, i < 3 ? "a" : "b", 0);
    assert_int_equal(token_buckets_left(buckets, ARM_VM_UPDATE, BUCKET_RESOURCE, 0), 9);
    assert_int_equal(token_buckets_left(buckets, ARM_VM_UPDATE, BUCKET_SUBSCRIPTION, 0), 1495);
    assert_int_equal(token_buckets_left(buckets, ARM_VM_UPDATE, BUCKET_METHOD, 0), 195);
    assert_int_equal(token_buckets_left(buckets, ARM_VM_UPDATE, BUCKET_RESOURCE, 3600 SECONDS), 12);
    assert_int_equal(token_buckets_left(buckets, ARM_SKU_READ, BUCKET_METHOD, 0), 250);
}

static void test_pace(void **state)
{
    CLEANUP(token_buckets_freep) struct token_buckets *buckets = token_buckets_new();

    (void)state;
    for (int i = 0; i < 22; i++)
        token_buckets_spend(buckets, ARM_OPERATION_READ, "a", 0);
    assert_int_equal(token_buckets_pace(buckets, ARM_OPERATION_READ, "a", 0), 0);
    token_buckets_spend(buckets, ARM_OPERATION_READ, "a", 0);
    assert_int_equal(token_buckets_pace(buckets, ARM_OPERATION_READ, "a", 0), 4 SECONDS);
    assert_int_equal(token_buckets_pace(buckets, ARM_OPERATION_READ, "b", 0), 0);
    assert_int_equal(token_buckets_pace(buckets, ARM_DISK_OPERATION_READ, NULL, 0), 0);
    assert_int_equal(token_buckets_pace(buckets, ARM_OPERATION_READ, "a", 61 SECONDS), 0);
}

/* ---- against Azure's ---- */

static const struct {
    enum arm_kind kind;
    enum throttle_policy policy, method;
} kinds[] = {
    {ARM_VM_UPDATE, THROTTLE_UPDATE_VM, THROTTLE_WRITES},
    {ARM_VM_READ, THROTTLE_GET_VM, THROTTLE_READS},
    {ARM_INSTANCE_UPDATE, THROTTLE_UPDATE_VMSS_VM, THROTTLE_WRITES},
    {ARM_OPERATION_READ, THROTTLE_GET_OPERATION, THROTTLE_READS},
    {ARM_DISK_WRITE, THROTTLE_PUT_DISK, THROTTLE_WRITES},
    {ARM_DISK_DELETE, THROTTLE_DELETE_DISK, THROTTLE_DELETES},
};

/* Three clients' worth of requests, each of which takes a while to arrive, in the order in which
 * they were sent: none is ever refused. */
static void test_nothing_is_throttled(void **state)
{
    unsigned sent = 0;

    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        CLEANUP(token_buckets_freep) struct token_buckets *buckets = token_buckets_new();
        CLEANUP(throttle_freep) struct throttle *azure = throttle_new();
        unsigned r = seed;
        uint64_t arrived = 0;

        for (uint64_t now = 0; now < 1800 SECONDS; now += (uint64_t)rand_r(&r) % 200) {
            size_t i = (size_t)rand_r(&r) % COUNT_OF(kinds);
            const char *vm = (const char *[]){"a", "b", "c"}[rand_r(&r) % 3];
            struct throttle_charge charge;

            if (token_buckets_due(buckets, kinds[i].kind, vm, now) > now)
                continue;
            token_buckets_spend(buckets, kinds[i].kind, vm, now);
            uint64_t arrives = now + (uint64_t)rand_r(&r) % 900;
            arrived = arrives > arrived ? arrives : arrived;
            throttle_take(azure, kinds[i].policy, "s", vm, arrived, &charge);
            assert_null(charge.refused);
            throttle_take(azure, kinds[i].method, "s", "us", arrived, &charge);
            assert_null(charge.refused);
            sent++;
        }
    }
    assert_in_range(sent, 20 * 200, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_what_is_left),
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_nothing_is_throttled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
