#include "provisioner-lib/host/probe.h"

#include <blkid/blkid.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/format_mark.h"

enum { END_BYTES = 1024 * 1024, PIECE = 64 * 1024 };

static void blkid_free_probep(blkid_probe *probe)
{
    blkid_free_probe(*probe);
}

static void take_word(blkid_probe probe, const char *name, char *word, size_t size)
{
    const char *value;

    word[0] = '\0';
    if (blkid_probe_lookup_value(probe, name, &value, NULL) == 0)
        strncat(word, value, size - 1);
}

static void take_signature(blkid_probe probe, struct disk_observation *found)
{
    char usage[DISK_WORD_SIZE];

    take_word(probe, "USAGE", usage, sizeof usage);
    if (strcmp(usage, "filesystem") == 0 && !blkid_probe_has_value(probe, "PTTYPE")) {
        found->content = DISK_FILESYSTEM;
        take_word(probe, "TYPE", found->type, sizeof found->type);
        take_word(probe, "UUID", found->uuid, sizeof found->uuid);
        return;
    }
    found->content = DISK_OTHER;
    take_word(probe, blkid_probe_has_value(probe, "PTTYPE") ? "PTTYPE" : "TYPE", found->type,
              sizeof found->type);
}

static struct err *find_signature(int fd, struct disk_observation *found)
{
    CLEANUP(blkid_free_probep) blkid_probe probe = blkid_new_probe();

    if (!probe || blkid_probe_set_device(probe, fd, 0, 0))
        return err_new(ERR_INTERNAL, "libblkid cannot read the device");
    blkid_probe_enable_superblocks(probe, 1);
    blkid_probe_set_superblocks_flags(probe,
                                      BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID | BLKID_SUBLKS_USAGE);
    blkid_probe_enable_partitions(probe, 1);
    switch (blkid_do_safeprobe(probe)) {
    case 0:
        take_signature(probe, found);
        return NULL;
    case 1:
        found->content = DISK_UNSIGNED;
        return NULL;
    case -2:
        found->content = DISK_AMBIGUOUS;
        return NULL;
    default:
        return err_new(ERR_INTERNAL, "libblkid cannot read the device");
    }
}

static struct err *is_zero(int fd, uint64_t begin, uint64_t end, bool *ret_zero)
{
    CLEANUP(freep) char *piece = mem_alloc(PIECE);

    for (uint64_t at = begin; at < end; at += PIECE) {
        size_t length = end - at < PIECE ? (size_t)(end - at) : PIECE;

        TRY(block_read(fd, at, piece, length));
        /* Every byte is like its neighbour, and the first is zero. */
        if (piece[0] || memcmp(piece, piece + 1, length - 1) != 0) {
            *ret_zero = false;
            return NULL;
        }
    }
    *ret_zero = true;
    return NULL;
}

static struct err *look_at_ends(int fd, struct disk_observation *found)
{
    uint64_t size = found->size, ends = size < END_BYTES ? size : END_BYTES;
    bool first, last;

    TRY(is_zero(fd, 0, ends, &first));
    TRY(is_zero(fd, size - ends, size, &last));
    found->blank = first && last;
    return NULL;
}

struct err *probe_device(int fd, struct disk_observation *ret)
{
    struct disk_observation found = {0};

    TRY(block_size(fd, &found.size));
    TRY(find_signature(fd, &found));
    TRY(format_mark_read(fd, found.size, found.format_mark));
    if (found.content == DISK_UNSIGNED)
        TRY(look_at_ends(fd, &found));
    *ret = found;
    return NULL;
}
