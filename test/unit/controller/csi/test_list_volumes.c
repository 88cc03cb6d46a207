/* What ListVolumes answers, of clusters written as words, and how its pages follow each other. */
#include <string.h>

#include "controller/csi/service.h"
#include "lib/api/csi.pb-c.h"
#include "test/unit/controller/controller_of.h"

#define ELSEWHERE "/subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/"
#define GOES ",'deletionTimestamp':'2026-01-01T00:00:00Z'"

#define NOT_CREATED                                                                                \
    "{'metadata':{'name':'v'},'spec':{'volumeName':'v'},'status':{'state':'Creating'}}"
#define DELETED                                                                                    \
    "{'metadata':{'name':'v'" GOES "},'spec':{'volumeName':'v'},"                                  \
    "'status':{'detail':{'volume_id':'" GROUP_DISKS "v'}}}"
#define WITHOUT_LUN                                                                                \
    "{'metadata':{'name':'v-a'},'spec':{'volumeName':'v','nodeName':'a','role':'Primary'},"        \
    "'status':{'state':'Pending','detail':{'role':'Primary'}}}"
#define LEAVING                                                                                    \
    "{'metadata':{'name':'v-a'" GOES "},'spec':{'volumeName':'v','nodeName':'a',"                  \
    "'role':'Primary'},'status':{'state':'Attached','detail':{'role':'Primary',"                   \
    "'publish_context':{'LUN':'0'}}}}"
#define WITHOUT_NODE                                                                               \
    "{'metadata':{'name':'v-a'},'spec':{'volumeName':'v','role':'Primary'},"                       \
    "'status':{'state':'AttachmentFailed','detail':{'role':'Primary',"                             \
    "'publish_context':{'LUN':'0'}}}}"
#define NO_ROOM ",'error':{'code':'RESOURCE_EXHAUSTED','message':'no room'}"
#define V "'volumes':[" VOLUME("v", "1") "]"

/* clang-format off */
static const struct {
    const char *what, *cluster;
    const char *listed; /* "handle: nodes", and what is abnormal */
} rows[] = {
    {"nothing", "{}", ""},
    {"a disk that is used nowhere", "{" V "}", "v:"},
    {"a disk that is being created", "{'volumes':[" NOT_CREATED "]}", ""},
    {"a volume that is being deleted", "{'volumes':[" DELETED "]}", ""},
    {"the primary, but no replica",
     "{" V ",'attachments':[" ATTACHED("v", "b", "Replica", "1") "," ATTACHED("v", "a", "Primary", "0") "]}", "v: a"},
    {"replicas without a primary", "{" V ",'attachments':[" ATTACHED("v", "b", "Replica", "1") "]}", "v:"},
    {"a LUN is enough",
     "{" V ",'attachments':[" ATTACHMENT("v", "a", "Primary", "Primary", "Attaching", "0", "") "]}", "v: a"},
    {"no LUN yet", "{" V ",'attachments':[" WITHOUT_LUN "]}", "v:"},
    {"a replica that is being promoted",
     "{" V ",'attachments':[" ATTACHMENT("v", "a", "Primary", "Replica", "Attached", "0", "") "]}", "v:"},
    {"a primary that is being demoted",
     "{" V ",'attachments':[" ATTACHMENT("v", "a", "Replica", "Primary", "Attached", "0", "") "]}", "v:"},
    {"a move: the old primary is still on record",
     "{" V ",'attachments':[" ATTACHMENT("v", "a", "Replica", "Primary", "Attached", "0", "") ","
     ATTACHMENT("v", "b", "Primary", "Replica", "Attached", "0", "") "]}", "v:"},
    {"an attachment that is being deleted", "{" V ",'attachments':[" LEAVING "]}", "v:"},
    {"one that makes no sense", "{" V ",'attachments':[" WITHOUT_NODE "]}",
     "v: !attaching the disk to node  failed: no reason given"},
    {"several nodes",
     "{'volumes':[" VOLUME("v", "5") "],'attachments':[" ATTACHED("v", "a", "Primary", "0") ","
     ATTACHED("v", "b", "Primary", "0") "]}", "v: a b"},
    {"another volume's",
     "{'volumes':[" VOLUME("v", "1") "," VOLUME("w", "1") "],'attachments':[" ATTACHED("w", "a", "Primary", "0") "]}",
     "v:|w: a"},
    {"an attach that has failed for good",
     "{" V ",'attachments':[" ATTACHMENT("v", "a", "Primary", "Primary", "AttachmentFailed", "0", NO_ROOM) "]}",
     "v: a !attaching the disk to node a failed: no room"},
    {"one that will be tried again",
     "{" V ",'attachments':[" ATTACHMENT("v", "a", "Primary", "Primary", "Attaching", "0", NO_ROOM) "]}", "v: a"},
    {"a replica's is no condition of the volume",
     "{" V ",'attachments':[" ATTACHMENT("v", "b", "Replica", "Replica", "AttachmentFailed", "0", NO_ROOM) "]}", "v:"},
    {"as the PersistentVolume spells it", "{" V ",'pvs':[" PV("p", "V") "]}", "V:"},
    {"an in-tree one", "{" V ",'pvs':[" IN_TREE_PV("p", "V") "]}", "V:"},
    {"a PersistentVolume of another disk of that name",
     "{" V ",'pvs':[{'metadata':{'name':'p'},'spec':{'csi':{'driver':'" DRIVER "','volumeHandle':'" ELSEWHERE "V'}}}]}",
     "v:"},
    {"a PersistentVolume of another driver",
     "{" V ",'pvs':[{'metadata':{'name':'p'},'spec':{'csi':{'driver':'x','volumeHandle':'" GROUP_DISKS "V'}}}]}",
     "v:"},
    {"as a pod without a claim spells it",
     "{" V ",'volume_attachments':[" INLINE_VOLUME_ATTACHMENT("1", "V", "a", "true") "]}", "V:"},
    {"a pod's disk of that name in another group",
     "{" V ",'volume_attachments':[{'metadata':{'name':'1'},'spec':{'attacher':'" DRIVER "','nodeName':'a','source':"
     "{'inlineVolumeSpec':{'csi':{'driver':'" DRIVER "','volumeHandle':'" ELSEWHERE "V'}}}}}]}", "v:"},
};
/* clang-format on */

/* ---- answers ---- */

static struct err *list(struct controller *controller, struct arena *arena, int most,
                        const char *token, Csi__V1__ListVolumesResponse *ret)
{
    Csi__V1__ListVolumesRequest request;
    struct rpc_call call = {.ctx = controller, .arena = arena};

    csi__v1__list_volumes_request__init(&request);
    request.max_entries = most;
    request.starting_token = (char *)(uintptr_t)token;
    csi__v1__list_volumes_response__init(ret);
    return csi_list_volumes(NULL, &call, &request, ret);
}

static const char *disk_of(const Csi__V1__ListVolumesResponse__Entry *entry)
{
    return strrchr(entry->volume->volume_id, '/') + 1;
}

static void test_what_is_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(rows[i].cluster);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(controller_fini) struct controller controller = controller_of(&view);
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        Csi__V1__ListVolumesResponse response;
        const char *text = "";

        controller.settings.publish_wait = PUBLISH_WAIT_LUN;
        assert_ok(list(&controller, arena, 0, "", &response));
        for (size_t k = 0; k < response.n_entries; k++) {
            const Csi__V1__ListVolumesResponse__Entry *entry = response.entries[k];
            const Csi__V1__VolumeCondition *condition = entry->status->volume_condition;

            text = arena_printf(arena, "%s%s%s:", text, k ? "|" : "", disk_of(entry));
            for (size_t n = 0; n < entry->status->n_published_node_ids; n++)
                text = arena_printf(arena, "%s %s", text, entry->status->published_node_ids[n]);
            if (condition->abnormal)
                text = arena_printf(arena, "%s !%s", text, condition->message);
            else
                assert_string_equal(condition->message, "no failure is on record");
        }
        if (strcmp(text, rows[i].listed) != 0)
            fail_msg("%s: %s", rows[i].what, text);
    }
}

/* With --publish-wait=attached a LUN is not enough: the call still waits. */
static void test_published_is_what_a_call_waits_for(void **state)
{
    static const char attaching[] =
        "{" V
        ",'attachments':[" ATTACHMENT("v", "a", "Primary", "Primary", "Attaching", "0", "") "]}";
    CLEANUP(json_decrefp) json_t *json = json_of(attaching);
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    static const struct {
        enum publish_wait wait;
        size_t published;
    } settings[] = {{PUBLISH_WAIT_CREATED, 1}, {PUBLISH_WAIT_LUN, 1}, {PUBLISH_WAIT_ATTACHED, 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        Csi__V1__ListVolumesResponse response;

        controller.settings.publish_wait = settings[i].wait;
        assert_ok(list(&controller, arena, 0, "", &response));
        assert_int_equal(response.entries[0]->status->n_published_node_ids, settings[i].published);
    }
}

/* ---- pages ---- */

static void put(const struct controller *controller, const char *name)
{
    CLEANUP(freep)
    char *text = mem_printf("{'metadata':{'name':'%s'},'spec':{'volumeName':'%s'},"
                            "'status':{'detail':{'volume_id':'" GROUP_DISKS "%s',"
                            "'capacity_bytes':4294967296}}}",
                            name, name, name);
    CLEANUP(json_decrefp) json_t *json = json_of(text);
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    assert_ok(kube_object_decode(&api__az_volume__descriptor, json, &object));
    store_put(controller->volumes, object);
}

static void take_away(const struct controller *controller, const char *name)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = kube_object_ref(store_get(controller->volumes, name));

    store_remove(controller->volumes, object);
}

/* "a b after:b" of a page of at most two. */
static const char *page(struct controller *controller, struct arena *arena, const char *token)
{
    Csi__V1__ListVolumesResponse response;
    const char *text = "";

    assert_ok(list(controller, arena, 2, token, &response));
    for (size_t i = 0; i < response.n_entries; i++)
        text = arena_printf(arena, "%s%s ", text, disk_of(response.entries[i]));
    return arena_printf(arena, "%s%s", text, response.next_token);
}

static void test_pages(void **state)
{
    CLEANUP(controller_fini)
    struct controller controller = controller_of(&(struct cluster_view){0});
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    (void)state;
    assert_string_equal(page(&controller, arena, ""), "");
    put(&controller, "d");
    put(&controller, "b");
    assert_string_equal(page(&controller, arena, ""), "b d "); /* that is all */
    put(&controller, "f");
    put(&controller, "h");
    put(&controller, "j");
    assert_string_equal(page(&controller, arena, ""), "b d after:d");
    /* What comes and goes moves nothing else from page to page. */
    put(&controller, "a");
    take_away(&controller, "b");
    take_away(&controller, "d");
    put(&controller, "e");
    assert_string_equal(page(&controller, arena, "after:d"), "e f after:f");
    take_away(&controller, "h");
    assert_string_equal(page(&controller, arena, "after:f"), "j ");
    assert_string_equal(page(&controller, arena, "after:j"), "");
    assert_string_equal(page(&controller, arena, "after:zz.top-1"), "");
}

/* The last page says that it is the last, whatever comes after it that is not listed. */
static void test_what_is_not_listed_begins_no_page(void **state)
{
    CLEANUP(json_decrefp) json_t *json = json_of("{'volumes':[" DELETED "]}");
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    (void)state;
    put(&controller, "a");
    put(&controller, "b");
    assert_string_equal(page(&controller, arena, ""), "a b ");
}

static void test_what_is_no_page(void **state)
{
    static const char *const tokens[] = {
        "invalid-token", "a",         "after:",   "after",   "AFTER:a",
        "after:A",       "after:n/a", "after:a ", " after:a"};
    CLEANUP(controller_fini)
    struct controller controller = controller_of(&(struct cluster_view){0});
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    Csi__V1__ListVolumesResponse response;

    (void)state;
    put(&controller, "a");
    for (size_t i = 0; i < COUNT_OF(tokens); i++)
        assert_fails(
            list(&controller, arena, 0, tokens[i], &response), ERR_BUSY,
            arena_printf(arena,
                         "starting_token \"%s\" is not from an answer of ListVolumes; list "
                         "again from the beginning, without starting_token",
                         tokens[i]));
    assert_fails(list(&controller, arena, -1, "", &response), ERR_INVALID,
                 "max_entries is -1; it must not be negative");
}

enum { MANY = 10000, LARGEST_MESSAGE = 4 << 20 };

/* Whoever does not ask for pages gets them nevertheless, each of a size that a client takes. */
static void test_ten_thousand_volumes(void **state)
{
    CLEANUP(controller_fini)
    struct controller controller = controller_of(&(struct cluster_view){0});
    CLEANUP(freep) char *token = mem_strdup("");
    size_t listed = 0, pages = 0;
    char name[16];

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "v%05u", i * 7919 % MANY);
        put(&controller, name);
    }
    do {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        Csi__V1__ListVolumesResponse response;

        assert_ok(list(&controller, arena, 0, token, &response));
        assert_true(csi__v1__list_volumes_response__get_packed_size(&response) <
                    LARGEST_MESSAGE / 4);
        for (size_t i = 0; i < response.n_entries; i++) {
            snprintf(name, sizeof name, "v%05zu", listed++);
            assert_string_equal(disk_of(response.entries[i]), name);
            assert_true(response.entries[i]->volume->capacity_bytes == 4LL << 30);
        }
        free(token);
        token = mem_strdup(response.next_token);
        pages++;
    } while (*token);
    assert_int_equal(listed, MANY);
    assert_in_range(pages, 2, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_listed),
        cmocka_unit_test(test_published_is_what_a_call_waits_for),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_what_is_not_listed_begins_no_page),
        cmocka_unit_test(test_what_is_no_page),
        cmocka_unit_test(test_ten_thousand_volumes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
