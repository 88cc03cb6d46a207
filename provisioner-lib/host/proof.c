#include "provisioner-lib/host/proof.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

static char *describe(const struct disk_observation *found)
{
    switch (found->content) {
    case DISK_UNSIGNED:
        return mem_strdup(found->blank ? "nothing" : "data without a signature");
    case DISK_FILESYSTEM:
        return mem_printf("%s %s", found->type, found->uuid);
    case DISK_OTHER:
        return mem_printf("%s, which is not a file system", found->type);
    case DISK_AMBIGUOUS:
        return mem_strdup("several signatures at once");
    }
    return NULL;
}

static struct err *refuse(const struct disk_observation *found, const char *why)
{
    CLEANUP(freep) char *content = describe(found);

    return err_new(ERR_PRECONDITION, "%s: found %s; the device was not modified", why, content);
}

static bool same_uuid(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

static struct err *check_size(const struct disk_expectation *expected,
                              const struct disk_observation *found)
{
    if (found->size == expected->size ||
        (expected->grown_size && found->size == expected->grown_size) ||
        (found->size > expected->size && expected->may_be_larger))
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "wrong disk: the volume has %" PRIu64 " bytes, but the device has %" PRIu64,
                   expected->size, found->size);
}

static struct err *decide_recorded(const struct disk_expectation *expected,
                                   const struct disk_observation *found)
{
    const struct filesystem_identity *recorded = expected->recorded;

    if (found->content != DISK_FILESYSTEM || strcmp(found->type, recorded->type) != 0 ||
        !same_uuid(found->uuid, recorded->uuid)) {
        CLEANUP(freep) char *record = identity_format(recorded);
        CLEANUP(freep) char *why = mem_printf("wrong disk or lost data: expected %s", record);

        return refuse(found, why);
    }
    if (strcmp(recorded->type, expected->type) != 0)
        return err_new(ERR_PRECONDITION, "the volume's file system is %s, but %s was requested",
                       recorded->type, expected->type);
    return NULL;
}

static struct err *decide_unrecorded(const struct disk_expectation *expected,
                                     const struct disk_observation *found, bool *ret_record_due)
{
    if (found->content != DISK_FILESYSTEM)
        return refuse(found, "the device is not empty and contains no file system");
    if (strcmp(found->type, expected->type) != 0) {
        CLEANUP(freep) char *why = mem_printf("%s was requested", expected->type);

        return refuse(found, why);
    }
    bool own = same_uuid(found->uuid, expected->uuid);
    if (!own && identity_has_mark(found->uuid))
        return refuse(found, "wrong disk: it contains the file system of another volume");
    *ret_record_due = own;
    return NULL;
}

/* Whether formatting this volume began here and did not come to its end. */
static bool is_unfinished(const struct disk_expectation *expected,
                          const struct disk_observation *found)
{
    return same_uuid(found->format_mark, expected->uuid) &&
           (found->content == DISK_UNSIGNED ||
            (found->content == DISK_FILESYSTEM && same_uuid(found->uuid, expected->uuid)));
}

struct err *proof_decide(const struct disk_expectation *expected,
                         const struct disk_observation *found, struct disk_verdict *ret)
{
    struct disk_verdict verdict = {0};

    TRY(check_size(expected, found));
    if (expected->raw) {
        /* The LUN and the size have to do: what a user writes there, be it a file system that
         * another volume was made with, is that user's. */
    } else if (expected->recorded) {
        TRY(decide_recorded(expected, found));
    } else if (is_unfinished(expected, found) ||
               (found->content == DISK_UNSIGNED && found->blank)) {
        if (expected->read_only)
            return refuse(found, "a volume that is published read-only is not formatted");
        if (expected->partition)
            return refuse(found, "a partition is not formatted by this driver: format it by hand");
        verdict = (struct disk_verdict){.format = true, .record_due = true};
    } else {
        TRY(decide_unrecorded(expected, found, &verdict.record_due));
    }
    *ret = verdict;
    return NULL;
}
