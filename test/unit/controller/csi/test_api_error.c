/* CreateVolume and CreateSnapshot where the API server refuses a request: whatever it refuses,
 * something may be under way, and the caller must ask again. */
#include "provisioner-lib/cloud.h"
#include "test/unit/controller/csi/csi_call.h"

#define TAKEN "{'kind':'Status','reason':'AlreadyExists','message':'taken'}"
#define REFUSED "{'kind':'Status','message':'no'}"
#define STATE(word) "{" META("1") ",'spec':{},'status':{'state':'" word "','error':{}}}"
#define VOLUME_IN(word) "{'volumes':[" STATE(word) "]}"
#define SNAPSHOT_OF(status) "{" META("1") ",'spec':{'sourceVolumeId':'" GROUP_DISKS "v'}" status "}"
#define FAILED ",'status':{'state':'CreationFailed','error':{}}"

#define POST_VOLUME "POST " RECORDS "azvolumes *"
#define GET_VOLUME "GET " RECORDS "azvolumes/x"
#define PATCH_VOLUME "PATCH " RECORDS "azvolumes/x *"
#define NOTE_VOLUME "PATCH " RECORDS "azvolumes/x/status *"
#define POST_SNAPSHOT "POST " RECORDS "azsnapshots *"
#define GET_SNAPSHOT "GET " RECORDS "azsnapshots/x"
#define PATCH_SNAPSHOT "PATCH " RECORDS "azsnapshots/x *"
#define NOTE_SNAPSHOT "PATCH " RECORDS "azsnapshots/x/status *"

enum { STEPS = 4 };

static const int64_t TOO_LARGE = 64LL * 1024 * GIB;

/* The last step is the one that is refused. */
/* clang-format off */
static const struct {
    const char *what, *cluster;
    task_fn *task;
    int64_t bytes;
    struct script_step steps[STEPS];
} rows[] = {
    {"a new volume", "{}", create_volume, 0, {{POST_VOLUME, 403, .answer = REFUSED}}},
    {"one that was written a moment ago", "{}", create_volume, 0,
     {{POST_VOLUME, 409, .answer = TAKEN}, {GET_VOLUME, 401, .answer = REFUSED}}},
    {"one that is under way", VOLUME_IN("Creating"), create_volume, 0, {{GET_VOLUME, 403, .answer = REFUSED}}},
    {"one that cannot be", "{}", create_volume, TOO_LARGE, {{GET_VOLUME, 403, .answer = REFUSED}}},
    {"one that cannot be, and has failed", "{}", create_volume, TOO_LARGE,
     {{GET_VOLUME, 200, .answer = STATE("CreationFailed")}, {NOTE_VOLUME, 403, .answer = REFUSED}}},
    {"one that begins anew", "{}", create_volume, 0,
     {{POST_VOLUME, 409, .answer = TAKEN}, {GET_VOLUME, 200, .answer = STATE("CreationFailed")},
      {PATCH_VOLUME, 422, .answer = REFUSED}}},
    {"one that has begun anew", "{}", create_volume, 0,
     {{POST_VOLUME, 409, .answer = TAKEN}, {GET_VOLUME, 200, .answer = STATE("CreationFailed")},
      {PATCH_VOLUME, 200, .answer = STATE("CreationFailed")}, {NOTE_VOLUME, 403, .answer = REFUSED}}},
    {"one that fails", "{}", create_volume, 0,
     {{POST_VOLUME, 201, .answer = STATE("CreationFailed")}, {NOTE_VOLUME, 403, .answer = REFUSED}}},
    {"a new snapshot", "{}", create_snapshot, 0, {{POST_SNAPSHOT, 403, .answer = REFUSED}}},
    {"one that was taken a moment ago", "{}", create_snapshot, 0,
     {{POST_SNAPSHOT, 409, .answer = TAKEN}, {GET_SNAPSHOT, 401, .answer = REFUSED}}},
    {"a snapshot that begins anew", "{}", create_snapshot, 0,
     {{POST_SNAPSHOT, 409, .answer = TAKEN}, {GET_SNAPSHOT, 200, .answer = SNAPSHOT_OF(FAILED)},
      {PATCH_SNAPSHOT, 422, .answer = REFUSED}}},
    {"a snapshot that has begun anew", "{}", create_snapshot, 0,
     {{POST_SNAPSHOT, 409, .answer = TAKEN}, {GET_SNAPSHOT, 200, .answer = SNAPSHOT_OF(FAILED)},
      {PATCH_SNAPSHOT, 200, .answer = SNAPSHOT_OF(FAILED)}, {NOTE_SNAPSHOT, 403, .answer = REFUSED}}},
};
/* clang-format on */

static void test_a_refusal_is_not_the_last_word(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct csi_call call = {.bytes = rows[i].bytes};
        size_t n = 0;

        while (n < STEPS && rows[i].steps[n].request)
            n++;
        csi_play(&call, rows[i].cluster, rows[i].steps, n, rows[i].task);
        CLEANUP(err_freep) struct err *err = call.err;
        if (err_kind(err) != ERR_UNAVAILABLE ||
            !strstr(err_message(err), "the API server refuses a request of the driver") ||
            !strstr(err_message(err), "no (HTTP 4"))
            fail_msg("%s: %s", rows[i].what, err ? err_message(err) : "done");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_refusal_is_not_the_last_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
