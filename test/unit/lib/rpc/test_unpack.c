/* Messages as they travel: what is one, and what is none. */
#include "lib/rpc/unpack.h"

#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define MODE CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__SINGLE_NODE_WRITER
#define MOUNT CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT

/* A request with a text in each place where a text can be. */
struct request {
    Csi__V1__ControllerPublishVolumeRequest message;
    Csi__V1__VolumeCapability capability;
    Csi__V1__VolumeCapability__MountVolume mount;
    Csi__V1__VolumeCapability__AccessMode mode;
    Csi__V1__ControllerPublishVolumeRequest__VolumeContextEntry entry, *entries[1];
    char *flags[1];
};

enum place { VOLUME_ID, NODE_ID, FLAG, KEY, VALUE };

static void fill(struct request *request, enum place place, const char *text)
{
    static char good[] = "Gr\xc3\xbc\xc3\x9f\x65";
    char *strange = (char *)(uintptr_t)text;

    csi__v1__controller_publish_volume_request__init(&request->message);
    csi__v1__volume_capability__init(&request->capability);
    csi__v1__volume_capability__mount_volume__init(&request->mount);
    csi__v1__volume_capability__access_mode__init(&request->mode);
    csi__v1__controller_publish_volume_request__volume_context_entry__init(&request->entry);
    request->message.volume_id = place == VOLUME_ID ? strange : good;
    request->message.node_id = place == NODE_ID ? strange : good;
    request->flags[0] = place == FLAG ? strange : good;
    request->entry.key = place == KEY ? strange : good;
    request->entry.value = place == VALUE ? strange : good;
    request->entries[0] = &request->entry;
    request->message.volume_context = request->entries;
    request->message.n_volume_context = 1;
    request->message.volume_capability = &request->capability;
    request->capability.access_type_case = MOUNT;
    request->capability.mount = &request->mount;
    request->capability.access_mode = &request->mode;
    request->mode.mode = MODE;
    request->mount.mount_flags = request->flags;
    request->mount.n_mount_flags = 1;
}

static struct err *unpack(enum place place, const char *text, char **ret_node)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct request request = {0};
    uint8_t bytes[1024];
    ProtobufCMessage *message;

    fill(&request, place, text);
    size_t length = protobuf_c_message_pack(&request.message.base, bytes);
    TRY(rpc_unpack(request.message.base.descriptor, bytes, length, arena, &message));
    *ret_node = mem_strdup(((Csi__V1__ControllerPublishVolumeRequest *)message)->node_id);
    return NULL;
}

static void test_text_is_utf8(void **state)
{
    static const struct {
        enum place place;
        const char *fault;
    } places[] = {
        {VOLUME_ID, "volume_id of csi.v1.ControllerPublishVolumeRequest is not UTF-8"},
        {NODE_ID, "node_id of csi.v1.ControllerPublishVolumeRequest is not UTF-8"},
        {FLAG, "mount_flags of csi.v1.VolumeCapability.MountVolume is not UTF-8"},
        {KEY, "key of csi.v1.ControllerPublishVolumeRequest.VolumeContextEntry is not UTF-8"},
        {VALUE, "value of csi.v1.ControllerPublishVolumeRequest.VolumeContextEntry is not UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        CLEANUP(freep) char *node = NULL;

        assert_ok(unpack(places[i].place, "n", &node));
        assert_string_equal(node, places[i].place == NODE_ID ? "n" : "Gr\xc3\xbc\xc3\x9f\x65");
        assert_fails(unpack(places[i].place, "n\xff", &node), ERR_INVALID, places[i].fault);
    }
}

static void test_what_is_no_message(void **state)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    ProtobufCMessage *message;

    (void)state;
    assert_fails(rpc_unpack(&csi__v1__probe_request__descriptor, "\x0a\x05x", 3, arena, &message),
                 ERR_INVALID, "the request is not a csi.v1.ProbeRequest");
}

enum { LARGEST = 4 * 1024 * 1024 }; /* that gRPC lets in */

static struct err *unpack_bytes(const ProtobufCMessageDescriptor *type, const char *bytes,
                                size_t length, size_t *ret_used)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    ProtobufCMessage *message;
    struct err *err = rpc_unpack(type, bytes, length, arena, &message);

    *ret_used = arena_used(arena);
    return err;
}

/* `n` times the same few bytes; free() them. */
static char *repeated(const char *piece, size_t length, size_t n)
{
    char *bytes = mem_alloc(n * length);

    for (size_t i = 0; i < n; i++)
        memcpy(bytes + i * length, piece, length);
    return bytes;
}

static void test_memory_is_bounded(void **state)
{
    static const char unknown[] = "\x78\x01";   /* field 15, a number */
    static const char entry[] = "\x32\x02\x0a"; /* field 6 of two bytes: an empty key */
    static const struct {
        const ProtobufCMessageDescriptor *type;
        const char *piece;
        size_t length;
    } rows[] = {
        {&csi__v1__probe_request__descriptor, unknown, 2},
        {&csi__v1__controller_publish_volume_request__descriptor, entry, 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *bytes = repeated(rows[i].piece, rows[i].length, LARGEST / rows[i].length);
        size_t used;

        assert_fails(unpack_bytes(rows[i].type, bytes, LARGEST, &used), ERR_EXHAUSTED,
                     "the request is too large: unpacked, it takes more than 16 MiB");
        assert_in_range(used, 0, RPC_MOST_UNPACKED + 8); /* for the last one is aligned */
        assert_ok(unpack_bytes(rows[i].type, bytes, LARGEST / 32, &used));
    }
}

/* As long as gRPC lets in. */
static void test_a_long_text(void **state)
{
    CLEANUP(freep) char *bytes = mem_alloc(LARGEST);
    size_t used;

    (void)state;
    memset(bytes, 'x', LARGEST);
    memcpy(bytes, "\x0a\xfb\xff\xff\x01", 5); /* field 1, of LARGEST - 5 bytes */
    assert_ok(unpack_bytes(&csi__v1__controller_publish_volume_request__descriptor, bytes, LARGEST,
                           &used));
    assert_in_range(used, LARGEST - 5, LARGEST + 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_utf8),
        cmocka_unit_test(test_what_is_no_message),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_a_long_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
