/* Persistent reservations for the loop devices of a test cluster, preloaded into the node plug-in.
 *
 * Azure's shared disks have them; loop devices, which stand in for these here, have not. What a
 * disk knows of its keys is in a file of a folder that all machines share, named as the disk's own
 * file, whose name is the unique id of the disk: inodes are given to other disks later. A machine
 * is known by its host name. Only what the plug-in asks is answered: nothing is refused to anybody
 * who writes. That a disk does refuse is shown in test/guest, with the SCSI target of the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FOLDER_FILE "/etc/reservations-folder" /* in the image: the folder's path */

enum { LOOP_MAJOR = 7, MOST = 16, NAME = 64, LINE = 256 };
enum { IN = 0x5e, READ_KEYS = 0, READ_RESERVATION = 1, REPORT_CAPABILITIES = 2 };
enum { OUT = 0x5f, RESERVE = 1, RELEASE = 2, PREEMPT = 4, REGISTER_AND_IGNORE = 6 };
enum { GOOD = 0x00, CHECK_CONDITION = 0x02, CONFLICT = 0x18, ILLEGAL_REQUEST = 0x05 };
enum { WRITE_EXCLUSIVE = 1, CAPABILITIES = 8 };

struct registration {
    uint64_t key;
    char machine[NAME];
};

struct disk {
    uint32_t generation, n;
    uint64_t holder; /* its key; 0: nobody */
    struct registration registrations[MOST];
};

/* ---- the file ---- */

/* Its first line. */
static bool read_line(const char *path, char line[LINE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, line, LINE - 1);

    if (fd >= 0)
        close(fd);
    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return length > 0;
}

static int open_disk(int fd)
{
    struct stat device;
    char folder[LINE], backing[LINE], path[2 * LINE];

    if (fstat(fd, &device) || !S_ISBLK(device.st_mode) || major(device.st_rdev) != LOOP_MAJOR)
        return -1;
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/loop/backing_file", major(device.st_rdev),
             minor(device.st_rdev));
    if (!read_line(path, backing) || !strchr(backing, '/') || !read_line(FOLDER_FILE, folder))
        return -1;
    snprintf(path, sizeof path, "%s%s", folder, strrchr(backing, '/'));
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/* ---- keys ---- */

static struct registration *mine(struct disk *disk)
{
    char machine[NAME] = "";

    gethostname(machine, sizeof machine - 1);
    for (uint32_t i = 0; i < disk->n; i++)
        if (strcmp(disk->registrations[i].machine, machine) == 0)
            return &disk->registrations[i];
    return NULL;
}

static void forget(struct disk *disk, uint64_t key)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < disk->n; i++)
        if (disk->registrations[i].key != key)
            disk->registrations[kept++] = disk->registrations[i];
    disk->n = kept;
    if (disk->holder == key)
        disk->holder = 0;
}

static int registered(struct disk *disk, uint64_t key)
{
    struct registration *own = mine(disk);

    if (own)
        forget(disk, own->key);
    if (!key)
        return GOOD;
    if (disk->n == MOST)
        return CONFLICT;
    struct registration *added = &disk->registrations[disk->n++];
    *added = (struct registration){.key = key};
    gethostname(added->machine, sizeof added->machine - 1);
    return GOOD;
}

static int changed(struct disk *disk, unsigned action, uint64_t key, uint64_t other)
{
    struct registration *own = mine(disk);
    bool held_by_other = disk->holder && disk->holder != other;

    if (action == REGISTER_AND_IGNORE) {
        disk->generation++;
        return registered(disk, other);
    }
    if (!own || own->key != key)
        return CONFLICT;
    switch (action) {
    case RESERVE:
        if (disk->holder && disk->holder != key)
            return CONFLICT;
        disk->holder = key;
        return GOOD;
    case RELEASE:
        disk->holder = disk->holder == key ? 0 : disk->holder;
        return GOOD;
    case PREEMPT:
        disk->generation++;
        forget(disk, other);
        disk->holder = held_by_other ? disk->holder : key;
        return GOOD;
    default:
        return CHECK_CONDITION;
    }
}

/* ---- commands ---- */

static void put(unsigned char *bytes, size_t length, uint64_t number)
{
    for (size_t i = length; i-- > 0; number >>= 8)
        bytes[i] = (unsigned char)number;
}

static uint64_t get(const unsigned char *bytes, size_t length)
{
    uint64_t number = 0;

    for (size_t i = 0; i < length; i++)
        number = number << 8 | bytes[i];
    return number;
}

static int answered(const struct disk *disk, unsigned action, unsigned char *data, size_t size)
{
    unsigned char whole[8 + 8 * MOST] = {0};

    put(whole, 4, disk->generation);
    if (action == READ_KEYS) {
        put(whole + 4, 4, 8 * disk->n);
        for (uint32_t i = 0; i < disk->n; i++)
            put(whole + 8 + 8 * i, 8, disk->registrations[i].key);
    } else if (action == READ_RESERVATION && disk->holder) {
        put(whole + 4, 4, 16);
        put(whole + 8, 8, disk->holder);
        whole[21] = WRITE_EXCLUSIVE;
    } else if (action == REPORT_CAPABILITIES) {
        put(whole, 2, CAPABILITIES);
        put(whole + 2, 2, 0x0080);
        put(whole + 4, 2, 0x0200);
    }
    memcpy(data, whole, size < sizeof whole ? size : sizeof whole);
    return GOOD;
}

static int carry_out(struct disk *disk, const struct sg_io_hdr *io)
{
    unsigned action = io->cmdp[1] & 0x1f;
    unsigned char *data = io->dxferp;

    if (io->cmdp[0] == IN)
        return answered(disk, action, data, io->dxfer_len);
    if (io->cmdp[0] == OUT)
        return changed(disk, action, get(data, 8), get(data + 8, 8));
    return CHECK_CONDITION;
}

static int send(int file, struct sg_io_hdr *io)
{
    struct disk disk = {0};

    flock(file, LOCK_EX);
    if (pread(file, &disk, sizeof disk, 0) < 0)
        return -1;
    io->status = (unsigned char)carry_out(&disk, io);
    io->host_status = io->driver_status = 0;
    if (io->status == CHECK_CONDITION && io->mx_sb_len > 2)
        io->sbp[0] = 0x70, io->sbp[2] = ILLEGAL_REQUEST;
    return pwrite(file, &disk, sizeof disk, 0) == sizeof disk ? 0 : -1;
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    int file = -1;

    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request == SG_IO)
        file = open_disk(fd);
    if (file < 0)
        return (int)syscall(SYS_ioctl, fd, request, argument);
    int result = send(file, argument);
    close(file);
    errno = result ? EIO : errno;
    return result;
}
