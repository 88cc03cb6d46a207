/* Which mounts are from before another node had the disk. */
#include "node/lost_mount.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/records/attachment.h"
#include "provisioner-lib/records/fence_note.h"
#include "test/unit/expect.h"
#include "test/unit/object.h"

enum { OWN = 1, OTHER, FORMER_BOOT };

#define HELD_BY(key)                                                                               \
    {                                                                                              \
        .generation = 7, .keys = {key}, .n_keys = 1, .held = true, .holder = (key)                 \
    }

static const struct {
    uint64_t on_record; /* key that has, or had, the fence; 0: none */
    uint32_t since;
    struct reservation seen;
    bool is_lost;
} cases[] = {
    {OWN, 5, HELD_BY(OWN), false},
    {OWN, 5, HELD_BY(OTHER), true},
    {OWN, 5, {.generation = 7}, true}, /* who has taken it is gone */
    {OWN, 5, {.generation = 7, .keys = {OTHER}, .n_keys = 1}, true},
    {OWN, 5, {.generation = 5}, false},
    {OWN, 5, {.generation = 0}, false}, /* the disk has forgotten all */
    {0, 0, HELD_BY(OTHER), true},       /* mounted by a release that knows no fences */
    {0, 0, {.generation = 7}, false},
    {FORMER_BOOT, 5, {.generation = 7}, false}, /* what is mounted is none of that boot's */
    {FORMER_BOOT, 5, HELD_BY(OTHER), true},
};

static struct kube_object *attachment_of(size_t i)
{
    CLEANUP(freep)
    char *note = cases[i].on_record ? fence_note_held(cases[i].on_record, 0, cases[i].since)
                                    : mem_strdup(FENCE_NOTE_UNSUPPORTED);
    char *text = mem_printf("{'metadata': {'name': 'a'}, 'spec': {'volume_id': '/v'}, "
                            "'status': {'annotation': {'" ANNOTATION_FENCE "': '%s'}}}",
                            note);

    return object_taken(&api__az_volume_attachment__descriptor, text);
}

static void test_what_another_node_had_meanwhile(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = attachment_of(i);

        if (lost_mount_is(as_attachment(object), OWN, &cases[i].seen) != cases[i].is_lost)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_another_node_had_meanwhile)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
