/* disk.h - real block devices and file systems for the tests of this folder: loop devices in a
 * private mount namespace. They need root; devices and mounts go with the process, however it ends.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "lib/base/cleanup.h"

#define MIB (1024ULL * 1024)
#define SMALLEST_EXT4 (16 * MIB)
#define SMALLEST_XFS (300 * MIB)

/* A folder for one test program, in a mount namespace of its own; for the group's set-up and
 * tear-down. */
int workplace_setup(void **state);
int workplace_teardown(void **state);
/* A path in that folder, or in another; freed with the workplace. */
const char *in_workplace(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *below(const char *folder, const char *name);
void make_folder(const char *path); /* with those above */

struct disk {
    char *path; /* "/dev/loop7" */
    dev_t number;
    uint64_t size;
    int fd;    /* open for reading and writing: keeps the device alive */
    int image; /* the file behind it: what is written there, another machine has written */
};

struct disk *disk_new(uint64_t size); /* blank */
struct disk *disk_new_below(const char *folder,
                            uint64_t size); /* its image is in that file system */
void disk_free(struct disk *disk);
DEFINE_CLEANUP(struct disk, disk_free)
/* Partition `number`, as the kernel knows it: the disk has no table. The name of its device. */
const char *disk_add_partition(const struct disk *disk, int number, uint64_t start, uint64_t size);
/* Another node of the same device. */
void disk_node(const struct disk *disk, const char *path);

/* Another disk with the same content, as it is on the disk and not in caches. */
struct disk *disk_copy(const struct disk *disk);

/* Mounts its file system, writes to it, and takes it away as a power cut does. */
void disk_use_and_cut_off(const struct disk *disk, const char *type);

void disk_write(const struct disk *disk, uint64_t offset, const char *text);
/* Content that says when it has been changed. */
uint64_t disk_checksum(const struct disk *disk);

/* Runs a program; the test fails if that does. */
void run_program(const char *const argv[]);
#define RUN(...) run_program((const char *const[]){__VA_ARGS__, NULL})

void write_file(const char *path, const char *text);
void write_below(const char *folder, const char *name, const char *text); /* with its folders */
char *read_text(const char *path) __attribute__((warn_unused_result));
