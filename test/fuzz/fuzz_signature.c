/* What is on a disk: signatures, superblocks, the mark of a formatting. An input is pieces of the
 * disk, each a four-byte offset and a two-byte length, little-endian, and its bytes; the first two
 * bytes are the disk's size in pages. */
#include <sys/stat.h>

#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/filesystem.h"
#include "provisioner-lib/host/probe.h"
#include "test/fuzz/file.h"

enum { PAGE = 4096, MOST_PAGES = 600, MIB = 1024 * 1024 };

/* The disk is a file, which does not answer the ioctl: the linker puts this in its place. */
struct err *__wrap_block_size(int fd, uint64_t *ret_bytes);
struct err *__wrap_block_size(int fd, uint64_t *ret_bytes)
{
    struct stat status;

    MUST(fstat(fd, &status) == 0);
    *ret_bytes = (uint64_t)status.st_size;
    return NULL;
}

static size_t number(const uint8_t *data, size_t bytes)
{
    size_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | data[bytes];
    return value;
}

static void write_pieces(int fd, size_t disk, const uint8_t *data, size_t size)
{
    while (size > 6) {
        size_t at = number(data, 4) % disk, length = number(data + 4, 2);

        data += 6, size -= 6;
        length = length < size ? length : size;
        length = length < disk - at ? length : disk - at;
        MUST(pwrite(fd, data, length, (off_t)at) == (ssize_t)length);
        data += length, size -= length;
    }
}

static bool has_data(int fd, size_t from, size_t to)
{
    static const uint8_t zeros[PAGE];
    uint8_t page[PAGE];

    for (size_t at = from; at < to; at += PAGE) {
        MUST(pread(fd, page, PAGE, (off_t)at) == PAGE);
        if (memcmp(page, zeros, PAGE) != 0)
            return true;
    }
    return false;
}

/* Whatever is found: a disk with anything in its first or last MiB is formatted only for the mark
 * of this very volume, and one whose file system is on record never. */
static void check_proof(int fd, size_t disk, const struct disk_observation *found)
{
    struct filesystem_identity record = {.type = "ext4"};
    struct disk_expectation expected = {.size = disk, .type = "ext4"};
    struct disk_verdict verdict = {0};
    size_t ends = disk < MIB ? disk : MIB;

    identity_derive("/subscriptions/s/disks/d", expected.uuid);
    if (input_taken(proof_decide(&expected, found, &verdict)) && verdict.format &&
        strcmp(found->format_mark, expected.uuid) != 0)
        MUST(!has_data(fd, 0, ends) && !has_data(fd, disk - ends, disk));
    memcpy(record.uuid, expected.uuid, sizeof record.uuid);
    expected.recorded = &record;
    if (input_taken(proof_decide(&expected, found, &verdict)))
        MUST(!verdict.format && strcmp(found->type, "ext4") == 0);
}

/* A file system that says that it has another UUID has it. */
static void check_uuid(int fd, const struct filesystem *type)
{
    static const char uuid[] = "617a646b-6e85-804c-ba1a-e367f410918d";
    struct disk_observation found;

    if (!input_taken(type->set_uuid(fd, uuid)))
        return;
    MUST(input_taken(probe_device(fd, &found)));
    MUST(found.content == DISK_FILESYSTEM && strcmp(found.uuid, uuid) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct disk_observation found;
    struct filesystem_state state;
    char path[INPUT_PATH_SIZE];

    if (size < 2)
        return 0;
    size_t disk = (1 + number(data, 2) % MOST_PAGES) * PAGE;
    int fd = input_file("", 0, path);
    MUST(ftruncate(fd, (off_t)disk) == 0);
    write_pieces(fd, disk, data + 2, size - 2);

    (void)input_taken(ext4_state_read(fd, &state));
    if (input_taken(probe_device(fd, &found))) {
        MUST(found.size == disk);
        MUST(memchr(found.type, '\0', sizeof found.type));
        MUST(memchr(found.uuid, '\0', sizeof found.uuid));
        MUST(memchr(found.format_mark, '\0', sizeof found.format_mark));
        check_proof(fd, disk, &found);
        if (found.content == DISK_FILESYSTEM && filesystem_find(found.type))
            check_uuid(fd, filesystem_find(found.type));
    }
    close(fd);
    return 0;
}
