/* The decision about a device: a table of situations, and properties over all that can be put
 * together from its parts. */
#include "provisioner-lib/host/proof.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define SIZE 1073741824
#define OWN "617a646b-6e85-804c-ba1a-e367f410918d"     /* of the volume */
#define OTHER "617a646b-1111-8111-8111-111111111111"   /* of another volume of this driver */
#define ORIGIN "617a646b-2222-8222-8222-222222222222"  /* of the volume that it is a copy of */
#define FOREIGN "0e65e0d1-5a3b-4d2e-9d80-6d5a0a1b2c3d" /* made elsewhere */

static const struct filesystem_identity recorded_own = {"ext4", OWN};
static const struct filesystem_identity recorded_foreign = {"ext4", FOREIGN};
static const struct filesystem_identity recorded_xfs = {"xfs", OWN};
static const struct filesystem_identity source = {"ext4", ORIGIN};
static const struct filesystem_identity source_xfs = {"xfs", ORIGIN};

#define ASKED(...)                                                                                 \
    {                                                                                              \
        .size = SIZE, .type = "ext4", .uuid = OWN, __VA_ARGS__                                     \
    }
#define BLANK(...)                                                                                 \
    {                                                                                              \
        .size = SIZE, .content = DISK_UNSIGNED, .blank = true, __VA_ARGS__                         \
    }
#define DATA(...)                                                                                  \
    {                                                                                              \
        .size = SIZE, .content = DISK_UNSIGNED, __VA_ARGS__                                        \
    }
#define HOLDS(found_type, found_uuid, ...)                                                         \
    {                                                                                              \
        .size = SIZE, .content = DISK_FILESYSTEM, .type = found_type, .uuid = found_uuid,          \
        __VA_ARGS__                                                                                \
    }

#define OF(rest)                                                                                   \
    ". If the volume is to use a copy of that volume's disk, set the annotation "                  \
    "disk.csi.azure.com/accept-filesystem of its PersistentVolume to 617a646b-" rest
#define WAY_OUT OF("1111-8111-8111-111111111111")

enum outcome { FORMAT, MOUNT, MOUNT_AND_RECORD, COPY, COPY_READ_ONLY, REFUSE };

static const struct {
    const char *name;
    struct disk_expectation expected;
    struct disk_observation found;
    enum outcome outcome;
    const char *message; /* of a refusal */
} table[] = {
    /* A new volume. */
    {"blank", ASKED(), BLANK(), FORMAT, NULL},
    {"blank, read-only", ASKED(.read_only = true), BLANK(), REFUSE,
     "a volume that is published read-only is not formatted: found nothing; the device was not "
     "modified"},
    {"blank, and says its name", ASKED(.disk = "/disks/Mine"), BLANK(.disk_name = "mine"), FORMAT,
     NULL},
    {"blank, and says another name", ASKED(.disk = "/disks/mine"), BLANK(.disk_name = "theirs"),
     REFUSE, "wrong disk: the volume's disk is mine, and the device says that it is theirs"},
    {"blank, and whose it is does not matter", ASKED(), BLANK(.disk_name = "theirs"), FORMAT, NULL},
    {"raw, and says its name", ASKED(.disk = "mine", .raw = true), DATA(.disk_name = "mine"), MOUNT,
     NULL},
    {"raw, and says another name", ASKED(.disk = "/disks/mine", .raw = true),
     DATA(.disk_name = "mine2"), REFUSE,
     "wrong disk: the volume's disk is mine, and the device says that it is mine2"},
    {"raw, and has the volume's mark under another name", ASKED(.disk = "/disks/mine", .raw = true),
     HOLDS("ext4", OWN, .disk_name = "theirs"), REFUSE,
     "wrong disk: the volume's disk is mine, and the device says that it is theirs"},
    {"its own mark, under another name", ASKED(.disk = "/disks/mine"),
     HOLDS("ext4", OWN, .disk_name = "theirs"), MOUNT_AND_RECORD, NULL},
    {"a copy, under another name", ASKED(.disk = "/disks/mine", .source = &source),
     HOLDS("ext4", ORIGIN, .disk_name = "theirs"), REFUSE,
     "wrong disk: the volume's disk is mine, and the device says that it is theirs"},
    {"a file system that was made elsewhere, under another name", ASKED(.disk = "/disks/mine"),
     HOLDS("ext4", FOREIGN, .disk_name = "theirs"), REFUSE,
     "wrong disk: the volume's disk is mine, and the device says that it is theirs"},
    {"its file system, under another name", ASKED(.disk = "/disks/mine", .recorded = &recorded_own),
     HOLDS("ext4", OWN, .disk_name = "theirs"), MOUNT, NULL},
    {"data without a signature", ASKED(), DATA(), REFUSE,
     "the device is not empty and contains no file system: found data without a signature; the "
     "device was not modified"},

    /* Size. */
    {"smaller",
     ASKED(),
     {.size = SIZE - 512, .blank = true},
     REFUSE,
     "wrong disk: the volume has 1073741824 bytes, but the device has 1073741312"},
    {"larger",
     ASKED(),
     {.size = SIZE + 512, .blank = true},
     REFUSE,
     "wrong disk: the volume has 1073741824 bytes, but the device has 1073742336"},
    {"larger, to be grown",
     ASKED(.may_be_larger = true),
     {.size = SIZE + 512, .blank = true},
     FORMAT,
     NULL},
    {"as large as it is to become",
     ASKED(.grown_size = 2ULL * SIZE),
     {.size = 2ULL * SIZE, .blank = true},
     FORMAT,
     NULL},
    {"in between",
     ASKED(.grown_size = 2ULL * SIZE),
     {.size = SIZE + 512, .blank = true},
     REFUSE,
     "wrong disk: the volume has 1073741824 bytes, but the device has 1073742336"},
    {"smaller, to be grown",
     ASKED(.may_be_larger = true),
     {.size = SIZE - 512, .blank = true},
     REFUSE,
     "wrong disk: the volume has 1073741824 bytes, but the device has 1073741312"},
    {"the recorded file system on a larger device",
     ASKED(.recorded = &recorded_own),
     {.size = SIZE + 512, .content = DISK_FILESYSTEM, .type = "ext4", .uuid = OWN},
     REFUSE,
     "wrong disk: the volume has 1073741824 bytes, but the device has 1073742336"},

    /* On record. */
    {"as recorded", ASKED(.recorded = &recorded_own), HOLDS("ext4", OWN), MOUNT, NULL},
    {"as recorded, read-only", ASKED(.recorded = &recorded_own, .read_only = true),
     HOLDS("ext4", OWN), MOUNT, NULL},
    {"as recorded, in capitals", ASKED(.recorded = &recorded_own),
     HOLDS("ext4", "617A646B-6E85-804C-BA1A-E367F410918D"), MOUNT, NULL},
    {"as recorded, though not derived", ASKED(.recorded = &recorded_foreign),
     HOLDS("ext4", FOREIGN), MOUNT, NULL},
    {"recorded, blank", ASKED(.recorded = &recorded_own), BLANK(), REFUSE,
     "wrong disk or lost data: expected ext4 " OWN ": found nothing; the device was not modified"},
    {"recorded, another volume", ASKED(.recorded = &recorded_own), HOLDS("ext4", OTHER), REFUSE,
     "wrong disk or lost data: expected ext4 " OWN ": found ext4 " OTHER
     "; the device was not modified"},
    {"recorded, another type", ASKED(.recorded = &recorded_own), HOLDS("xfs", OWN), REFUSE,
     "wrong disk or lost data: expected ext4 " OWN ": found xfs " OWN
     "; the device was not modified"},
    {"recorded, a partition table",
     ASKED(.recorded = &recorded_own),
     {.size = SIZE, .content = DISK_OTHER, .type = "gpt"},
     REFUSE,
     "wrong disk or lost data: expected ext4 " OWN
     ": found gpt, which is not a file system; the device was not modified"},
    {"recorded, several signatures",
     ASKED(.recorded = &recorded_own),
     {.size = SIZE, .content = DISK_AMBIGUOUS},
     REFUSE,
     "wrong disk or lost data: expected ext4 " OWN
     ": found several signatures at once; the device was not modified"},
    {"recorded, unfinished", ASKED(.recorded = &recorded_own), DATA(.format_mark = OWN), REFUSE,
     "wrong disk or lost data: expected ext4 " OWN
     ": found data without a signature; the device was not modified"},
    {"another type is asked for than recorded", ASKED(.recorded = &recorded_xfs), HOLDS("xfs", OWN),
     REFUSE, "the volume's file system is xfs, but ext4 was requested"},

    /* Not on record. */
    {"ours, not recorded yet", ASKED(), HOLDS("ext4", OWN), MOUNT_AND_RECORD, NULL},
    {"ours, another type", ASKED(), HOLDS("xfs", OWN), REFUSE,
     "ext4 was requested: found xfs " OWN "; the device was not modified"},
    {"another volume's", ASKED(), HOLDS("ext4", OTHER), REFUSE,
     "wrong disk: it contains the file system of another volume: found ext4 " OTHER
     "; the device was not modified" WAY_OUT},
    {"made elsewhere", ASKED(), HOLDS("ext4", FOREIGN), MOUNT, NULL},
    {"made elsewhere, without a UUID", ASKED(), HOLDS("ext4", ""), MOUNT, NULL},
    {"made elsewhere, another type", ASKED(), HOLDS("btrfs", FOREIGN), REFUSE,
     "ext4 was requested: found btrfs " FOREIGN "; the device was not modified"},
    {"a partition table",
     ASKED(),
     {.size = SIZE, .content = DISK_OTHER, .type = "dos"},
     REFUSE,
     "the device is not empty and contains no file system: found dos, which is not a file system; "
     "the device was not modified"},
    {"several signatures",
     ASKED(),
     {.size = SIZE, .content = DISK_AMBIGUOUS},
     REFUSE,
     "the device is not empty and contains no file system: found several signatures at once; the "
     "device was not modified"},

    /* A formatting that was cut off. */
    {"unfinished", ASKED(), DATA(.format_mark = OWN), FORMAT, NULL},
    {"unfinished, almost", ASKED(), HOLDS("xfs", OWN, .format_mark = OWN), FORMAT, NULL},
    {"unfinished, read-only", ASKED(.read_only = true), DATA(.format_mark = OWN), REFUSE,
     "a volume that is published read-only is not formatted: found data without a signature; the "
     "device was not modified"},
    {"another volume's, unfinished", ASKED(), DATA(.format_mark = OTHER), REFUSE,
     "the device is not empty and contains no file system: found data without a signature; the "
     "device was not modified"},
    {"our mark under another's file system", ASKED(), HOLDS("ext4", OTHER, .format_mark = OWN),
     REFUSE,
     "wrong disk: it contains the file system of another volume: found ext4 " OTHER
     "; the device was not modified" WAY_OUT},

    /* A copy that the driver has made. */
    {"a copy", ASKED(.source = &source), HOLDS("ext4", ORIGIN), COPY, NULL},
    {"a copy, read-only", ASKED(.source = &source, .read_only = true), HOLDS("ext4", ORIGIN),
     COPY_READ_ONLY, NULL},
    {"a copy on a partition", ASKED(.source = &source, .partition = true), HOLDS("ext4", ORIGIN),
     COPY, NULL},
    {"a copy with the volume's own", ASKED(.source = &source), HOLDS("ext4", OWN), MOUNT_AND_RECORD,
     NULL},
    {"a copy with its own on record", ASKED(.source = &source, .recorded = &recorded_own),
     HOLDS("ext4", OWN), MOUNT, NULL},
    {"a copy's origin, with its own on record", ASKED(.source = &source, .recorded = &recorded_own),
     HOLDS("ext4", ORIGIN), REFUSE,
     "wrong disk or lost data: expected ext4 " OWN ": found ext4 " ORIGIN
     "; the device was not modified"},
    {"a copy of another size",
     ASKED(.source = &source),
     {.size = SIZE + 512, .content = DISK_FILESYSTEM, .type = "ext4", .uuid = ORIGIN},
     REFUSE,
     "wrong disk: the volume has 1073741824 bytes, but the device has 1073742336"},
    {"a copy, another volume's", ASKED(.source = &source), HOLDS("ext4", OTHER), REFUSE,
     "wrong disk or lost data: expected a copy of ext4 " ORIGIN ": found ext4 " OTHER
     "; the device was not modified" WAY_OUT},
    {"a copy, made elsewhere", ASKED(.source = &source), HOLDS("ext4", FOREIGN), REFUSE,
     "wrong disk or lost data: expected a copy of ext4 " ORIGIN ": found ext4 " FOREIGN
     "; the device was not modified"},
    {"a copy, without a UUID", ASKED(.source = &source), HOLDS("ext4", ""), REFUSE,
     "wrong disk or lost data: expected a copy of ext4 " ORIGIN
     ": found ext4 ; the device was not modified"},
    {"a copy of another type", ASKED(.source = &source_xfs), HOLDS("ext4", ORIGIN), REFUSE,
     "wrong disk or lost data: expected a copy of xfs " ORIGIN ": found ext4 " ORIGIN
     "; the device was not modified" OF("2222-8222-8222-222222222222")},
    {"a copy, another type is asked for", ASKED(.source = &source_xfs), HOLDS("xfs", ORIGIN),
     REFUSE, "ext4 was requested: found xfs " ORIGIN "; the device was not modified"},
    {"a copy, blank", ASKED(.source = &source), BLANK(), REFUSE,
     "wrong disk or lost data: expected a copy of ext4 " ORIGIN
     ": found nothing; the device was not modified"},
    {"a copy, data", ASKED(.source = &source), DATA(), REFUSE,
     "wrong disk or lost data: expected a copy of ext4 " ORIGIN
     ": found data without a signature; the device was not modified"},
    {"a copy, unfinished", ASKED(.source = &source), DATA(.format_mark = OWN), REFUSE,
     "wrong disk or lost data: expected a copy of ext4 " ORIGIN
     ": found data without a signature; the device was not modified"},
    {"a raw volume that is a copy", ASKED(.source = &source, .raw = true), HOLDS("ext4", OTHER),
     MOUNT, NULL},

    /* A copy of a disk that had nothing on record. */
    {"perhaps a copy", ASKED(.possible = ORIGIN), HOLDS("ext4", ORIGIN), COPY, NULL},
    {"perhaps a copy, in capitals",
     ASKED(.possible = OTHER " 617A646B-2222-8222-8222-222222222222"), HOLDS("ext4", ORIGIN), COPY,
     NULL},
    {"perhaps a copy, read-only", ASKED(.possible = ORIGIN " " OTHER, .read_only = true),
     HOLDS("ext4", ORIGIN), COPY_READ_ONLY, NULL},
    {"perhaps a copy, blank", ASKED(.possible = ORIGIN), BLANK(), FORMAT, NULL},
    {"perhaps a copy, blank and read-only", ASKED(.possible = ORIGIN, .read_only = true), BLANK(),
     REFUSE,
     "a volume that is published read-only is not formatted: found nothing; the device was not "
     "modified"},
    {"perhaps a copy, unfinished", ASKED(.possible = ORIGIN), DATA(.format_mark = OWN), FORMAT,
     NULL},
    {"a copy of what was unfinished", ASKED(.possible = ORIGIN), DATA(.format_mark = ORIGIN),
     FORMAT, NULL},
    {"a copy of what was nearly finished", ASKED(.possible = OTHER " " ORIGIN),
     HOLDS("ext4", ORIGIN, .format_mark = ORIGIN), FORMAT, NULL},
    {"unfinished by another one", ASKED(.possible = ORIGIN), DATA(.format_mark = OTHER), REFUSE,
     "the device is not empty and contains no file system: found data without a signature; the "
     "device was not modified"},
    {"perhaps a copy, another volume's", ASKED(.possible = ORIGIN), HOLDS("ext4", OTHER), REFUSE,
     "wrong disk: it contains the file system of another volume: found ext4 " OTHER
     "; the device was not modified" WAY_OUT},
    {"perhaps a copy, made elsewhere", ASKED(.possible = ORIGIN), HOLDS("ext4", FOREIGN), MOUNT,
     NULL},
    {"perhaps a copy, without a UUID", ASKED(.possible = ORIGIN), HOLDS("ext4", ""), MOUNT, NULL},
    {"perhaps a copy, part of a UUID", ASKED(.possible = ORIGIN),
     HOLDS("ext4", "617a646b-2222-8222-8222"), REFUSE,
     "wrong disk: it contains the file system of another volume: found ext4 "
     "617a646b-2222-8222-8222; the device was not modified" OF("2222-8222-8222")},
    {"perhaps a copy, its own on record", ASKED(.possible = ORIGIN, .recorded = &recorded_own),
     HOLDS("ext4", ORIGIN), REFUSE,
     "wrong disk or lost data: expected ext4 " OWN ": found ext4 " ORIGIN
     "; the device was not modified"},
    {"one or the other", ASKED(.possible = OTHER, .source = &source), HOLDS("ext4", OTHER), COPY,
     NULL},
    {"one or the other, but nothing", ASKED(.possible = OTHER, .source = &source), BLANK(), REFUSE,
     "wrong disk or lost data: expected a copy of ext4 " ORIGIN
     ": found nothing; the device was not modified"},

    /* A copy by the user's word. */
    {"accepted", ASKED(.accepted = OTHER), HOLDS("ext4", OTHER), COPY, NULL},
    {"accepted, in capitals", ASKED(.accepted = "617A646B-2222-8222-8222-222222222222"),
     HOLDS("ext4", ORIGIN), COPY, NULL},
    {"accepted, read-only", ASKED(.accepted = OTHER, .read_only = true), HOLDS("ext4", OTHER),
     COPY_READ_ONLY, NULL},
    {"accepted, made elsewhere", ASKED(.accepted = FOREIGN), HOLDS("ext4", FOREIGN), COPY, NULL},
    {"accepted beside a source", ASKED(.source = &source, .accepted = OTHER), HOLDS("ext4", OTHER),
     COPY, NULL},
    {"the source beside what is accepted", ASKED(.source = &source, .accepted = OTHER),
     HOLDS("ext4", ORIGIN), COPY, NULL},
    {"neither", ASKED(.source = &source, .accepted = OTHER), HOLDS("ext4", FOREIGN), REFUSE,
     "wrong disk or lost data: expected a copy of ext4 " ORIGIN " or of " OTHER
     ": found ext4 " FOREIGN "; the device was not modified"},
    {"accepted, but another", ASKED(.accepted = ORIGIN), HOLDS("ext4", OTHER), REFUSE,
     "wrong disk or lost data: expected a copy of " ORIGIN ": found ext4 " OTHER
     "; the device was not modified" WAY_OUT},
    {"accepted, but blank", ASKED(.accepted = ORIGIN), BLANK(), REFUSE,
     "wrong disk or lost data: expected a copy of " ORIGIN
     ": found nothing; the device was not modified"},
    {"accepted, with another on record", ASKED(.accepted = OTHER, .recorded = &recorded_own),
     HOLDS("ext4", OTHER), REFUSE,
     "wrong disk or lost data: expected ext4 " OWN ": found ext4 " OTHER
     "; the device was not modified"},

    /* Raw volumes. */
    {"raw, blank", ASKED(.raw = true), BLANK(), MOUNT, NULL},
    {"raw, data", ASKED(.raw = true), DATA(), MOUNT, NULL},
    {"raw, a partition table",
     ASKED(.raw = true),
     {.size = SIZE, .content = DISK_OTHER, .type = "gpt"},
     MOUNT,
     NULL},
    {"raw, a file system", ASKED(.raw = true), HOLDS("xfs", FOREIGN), MOUNT, NULL},
    {"raw, another size",
     ASKED(.raw = true),
     {.size = 2 * (uint64_t)SIZE, .blank = true},
     REFUSE,
     "wrong disk: the volume has 1073741824 bytes, but the device has 2147483648"},
    {"raw, its own file system", ASKED(.raw = true), HOLDS("ext4", OWN), MOUNT, NULL},
    {"raw, a file system that was restored to it", ASKED(.raw = true), HOLDS("ext4", OTHER), MOUNT,
     NULL},
    {"raw, another file system than it once had", ASKED(.raw = true, .recorded = &recorded_own),
     HOLDS("ext4", OTHER), MOUNT, NULL},
};

static enum outcome outcome_of(const struct disk_expectation *expected,
                               const struct disk_observation *found, struct err **ret_err)
{
    struct disk_verdict verdict;

    *ret_err = proof_decide(expected, found, &verdict);
    if (*ret_err)
        return REFUSE;
    if (verdict.format) {
        assert_true(verdict.record_due);
        assert_false(verdict.copy);
        return FORMAT;
    }
    if (verdict.copy) {
        assert_int_equal(verdict.record_due, !expected->read_only);
        return verdict.record_due ? COPY : COPY_READ_ONLY;
    }
    return verdict.record_due ? MOUNT_AND_RECORD : MOUNT;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct err *err;
        enum outcome outcome = outcome_of(&table[i].expected, &table[i].found, &err);

        if (outcome != table[i].outcome)
            fail_msg("%s: got outcome %d (%s)", table[i].name, outcome,
                     err ? err_message(err) : "no refusal");
        if (outcome == REFUSE)
            assert_fails(err, ERR_PRECONDITION, table[i].message);
    }
}

/* ---- every combination ---- */

static const uint64_t sizes[] = {SIZE - 512, SIZE, SIZE + 512};
static const char *const types[] = {"", "ext4", "xfs", "btrfs", "gpt"};
static const char *const uuids[] = {"", OWN, OTHER, FOREIGN, ORIGIN};
static const struct filesystem_identity *const sources[] = {NULL, &source, &source_xfs};
static const char *const accepted[] = {NULL, ORIGIN, FOREIGN};
static const char *const possible[] = {NULL, ORIGIN};
static const struct filesystem_identity *const records[] = {NULL, &recorded_own, &recorded_foreign,
                                                            &recorded_xfs};

struct combination {
    struct disk_expectation expected;
    struct disk_observation found;
};

/* Digits of a number in mixed bases: every number is another combination. */
static size_t digit(size_t *number, size_t base)
{
    size_t value = *number % base;

    *number /= base;
    return value;
}

static void copy_word(char *word, size_t size, const char *text)
{
    snprintf(word, size, "%s", text);
}

static bool combine(size_t number, struct combination *ret)
{
    *ret = (struct combination){.expected = ASKED()};
    ret->found.size = sizes[digit(&number, COUNT_OF(sizes))];
    ret->found.content = (enum disk_content)digit(&number, DISK_AMBIGUOUS + 1);
    copy_word(ret->found.type, sizeof ret->found.type, types[digit(&number, COUNT_OF(types))]);
    copy_word(ret->found.uuid, sizeof ret->found.uuid, uuids[digit(&number, COUNT_OF(uuids))]);
    ret->found.blank = digit(&number, 2);
    copy_word(ret->found.format_mark, sizeof ret->found.format_mark,
              uuids[digit(&number, COUNT_OF(uuids))]);
    ret->expected.may_be_larger = digit(&number, 2);
    ret->expected.raw = digit(&number, 2);
    ret->expected.read_only = digit(&number, 2);
    ret->expected.type = digit(&number, 2) ? "xfs" : "ext4";
    ret->expected.recorded = records[digit(&number, COUNT_OF(records))];
    ret->expected.source = sources[digit(&number, COUNT_OF(sources))];
    ret->expected.accepted = accepted[digit(&number, COUNT_OF(accepted))];
    ret->expected.possible = possible[digit(&number, COUNT_OF(possible))];
    return number == 0;
}

static void check_formatting(const struct combination *c)
{
    bool untouched = c->found.content == DISK_UNSIGNED && c->found.blank;
    const char *mark = c->found.format_mark;
    bool ours = strcmp(mark, OWN) == 0 || (c->expected.possible && strcmp(mark, ORIGIN) == 0);
    bool cut_off =
        ours && (c->found.content == DISK_UNSIGNED ||
                 (c->found.content == DISK_FILESYSTEM && strcmp(c->found.uuid, mark) == 0));

    assert_true(untouched || cut_off);
    assert_null(c->expected.recorded);
    assert_null(c->expected.source);
    assert_null(c->expected.accepted);
    assert_false(c->expected.read_only);
    assert_false(c->expected.raw);
}

/* A file system that is neither the volume's nor its origin's. */
static bool is_strange(const struct combination *c)
{
    const struct disk_expectation *expected = &c->expected;
    bool is_source = expected->source && strcmp(expected->source->type, c->found.type) == 0 &&
                     strcmp(expected->source->uuid, c->found.uuid) == 0;
    bool is_accepted = expected->accepted && strcmp(expected->accepted, c->found.uuid) == 0;

    bool is_possible = expected->possible && strcmp(expected->possible, c->found.uuid) == 0;

    return strcmp(c->found.uuid, OWN) != 0 && !is_source && !is_accepted && !is_possible;
}

static void check_mounting(const struct combination *c, enum outcome outcome)
{
    const struct filesystem_identity *recorded = c->expected.recorded;

    if (c->expected.raw)
        return;
    assert_string_not_equal(c->found.uuid, OTHER);
    if (!recorded && is_strange(c)) {
        assert_null(c->expected.source);
        assert_null(c->expected.accepted);
        assert_string_not_equal(c->found.uuid, ORIGIN);
    }
    if (outcome == COPY || outcome == COPY_READ_ONLY)
        assert_true(!recorded && !is_strange(c) && strcmp(c->found.uuid, OWN) != 0);
    assert_int_equal(c->found.content, DISK_FILESYSTEM);
    assert_string_equal(c->found.type, c->expected.type);
    if (recorded) {
        assert_string_equal(c->found.type, recorded->type);
        assert_string_equal(c->found.uuid, recorded->uuid);
    }
}

static void test_properties(void **state)
{
    struct combination c;
    size_t n = 0, outcomes[REFUSE + 1] = {0};

    (void)state;
    for (; combine(n, &c); n++) {
        struct err *err;
        enum outcome outcome = outcome_of(&c.expected, &c.found, &err);

        outcomes[outcome]++;
        err_free(err);
        if (outcome == REFUSE)
            continue;
        assert_true(c.found.size == SIZE || (c.found.size > SIZE && c.expected.may_be_larger));
        if (outcome == FORMAT)
            check_formatting(&c);
        else
            check_mounting(&c, outcome);
    }
    for (size_t i = 0; i <= REFUSE; i++)
        assert_true(outcomes[i] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
