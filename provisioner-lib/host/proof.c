#include "provisioner-lib/host/proof.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "lib/api/names.h"
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

/* What is on it tells the disk from all others. */
static bool shows_whose(const struct disk_expectation *expected,
                        const struct disk_observation *found)
{
    return !expected->raw && (expected->recorded || same_uuid(found->uuid, expected->uuid));
}

static struct err *check_name(const struct disk_expectation *expected,
                              const struct disk_observation *found)
{
    const char *slash = expected->disk ? strrchr(expected->disk, '/') : NULL;
    const char *name = slash ? slash + 1 : expected->disk;

    if (!name || !found->disk_name[0] || strcasecmp(found->disk_name, name) == 0)
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "wrong disk: the volume's disk is %s, and the device says that it is %s", name,
                   found->disk_name);
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

/* ---- none on record ---- */

static bool is_copy(const struct disk_expectation *expected)
{
    return expected->source || expected->accepted;
}

static bool is_possible(const struct disk_expectation *expected, const char *uuid)
{
    const char *rest = expected->possible ? expected->possible : "";

    for (; *uuid && *rest; rest += strspn(rest, " ")) {
        size_t length = strcspn(rest, " ");

        if (strlen(uuid) == length && strncasecmp(uuid, rest, length) == 0)
            return true;
        rest += length;
    }
    return false;
}

static bool is_of_origin(const struct disk_expectation *expected,
                         const struct disk_observation *found)
{
    const struct filesystem_identity *source = expected->source;

    return (source && strcmp(found->type, source->type) == 0 &&
            same_uuid(found->uuid, source->uuid)) ||
           (expected->accepted && same_uuid(found->uuid, expected->accepted)) ||
           is_possible(expected, found->uuid);
}

static struct err *refuse_as_copy(const struct disk_expectation *expected,
                                  const struct disk_observation *found)
{
    CLEANUP(freep) char *source = expected->source ? identity_format(expected->source) : NULL;
    CLEANUP(freep)
    char *why = mem_printf("wrong disk or lost data: expected a copy of %s%s%s",
                           source ? source : "", source && expected->accepted ? " or of " : "",
                           expected->accepted ? expected->accepted : "");

    return refuse(found, why);
}

/* The file system of another volume, perhaps in a copy that nobody has told us of. */
static struct err *with_way_out(struct err *err, const struct disk_observation *found)
{
    CLEANUP(freep) char *said = mem_strdup(err_message(err));

    err_free(err);
    return err_new(ERR_PRECONDITION,
                   "%s. If the volume is to use a copy of that volume's disk, set the annotation "
                   "%s of its PersistentVolume to %s",
                   said, ANNOTATION_ACCEPT_FILESYSTEM, found->uuid);
}

static struct err *refuse_content(const struct disk_expectation *expected,
                                  const struct disk_observation *found)
{
    if (is_copy(expected))
        return refuse_as_copy(expected, found);
    return refuse(found, found->content == DISK_FILESYSTEM
                             ? "wrong disk: it contains the file system of another volume"
                             : "the device is not empty and contains no file system");
}

static struct err *decide_unrecorded(const struct disk_expectation *expected,
                                     const struct disk_observation *found,
                                     struct disk_verdict *verdict)
{
    if (found->content != DISK_FILESYSTEM)
        return refuse_content(expected, found);
    if (strcmp(found->type, expected->type) != 0) {
        CLEANUP(freep) char *why = mem_printf("%s was requested", expected->type);

        return refuse(found, why);
    }
    bool own = same_uuid(found->uuid, expected->uuid);
    verdict->copy = !own && is_of_origin(expected, found);
    verdict->record_due = own || (verdict->copy && !expected->read_only);
    if (own || verdict->copy)
        return NULL;
    if (identity_has_mark(found->uuid))
        return with_way_out(refuse_content(expected, found), found);
    return is_copy(expected) ? refuse_as_copy(expected, found) : NULL;
}

static bool is_blank(const struct disk_observation *found)
{
    return found->content == DISK_UNSIGNED && found->blank;
}

/* Formatting some volume began here and did not come to its end. */
static bool is_begun(const struct disk_observation *found)
{
    return found->format_mark[0] &&
           (found->content == DISK_UNSIGNED ||
            (found->content == DISK_FILESYSTEM && same_uuid(found->uuid, found->format_mark)));
}

bool proof_may_be_formatted(const struct disk_observation *found)
{
    return is_blank(found) || is_begun(found);
}

/* Whether that is this volume; or its origin, of which this is a copy. */
static bool is_unfinished(const struct disk_expectation *expected,
                          const struct disk_observation *found)
{
    return (same_uuid(found->format_mark, expected->uuid) ||
            is_possible(expected, found->format_mark)) &&
           is_begun(found);
}

struct err *proof_decide(const struct disk_expectation *expected,
                         const struct disk_observation *found, struct disk_verdict *ret)
{
    struct disk_verdict verdict = {0};

    TRY(check_size(expected, found));
    if (expected->raw) {
        /* The LUN, the size and the disk's own word have to do: what a user writes there, be it a
         * file system that another volume was made with, is that user's. */
    } else if (expected->recorded) {
        TRY(decide_recorded(expected, found));
    } else if (!is_copy(expected) && (is_blank(found) || is_unfinished(expected, found))) {
        if (expected->read_only)
            return refuse(found, "a volume that is published read-only is not formatted");
        if (expected->partition)
            return refuse(found, "a partition is not formatted by this driver: format it by hand");
        verdict = (struct disk_verdict){.format = true, .record_due = true};
    } else {
        TRY(decide_unrecorded(expected, found, &verdict));
    }
    if (!shows_whose(expected, found))
        TRY(check_name(expected, found));
    *ret = verdict;
    return NULL;
}
