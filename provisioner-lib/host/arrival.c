#include "provisioner-lib/host/arrival.h"

#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "lib/base/alloc.h"

enum {
    KERNEL_GROUP = 1, /* the kernel's own events; udev's are group 2 */
    READ_SIZE = 3072, /* the kernel's events have up to 2 KiB and a head */
};

/* From the outside in: those that do not exist yet are watched as soon as the one above tells. */
static const char *const FOLDERS[] = {
    "", "/disk", "/disk/azure", "/disk/azure/scsi1", "/disk/azure/data", "/disk/azure/data/by-lun"};

/* A descriptor that tells of arrivals. */
struct source {
    uv_poll_t poll;
    int fd; /* -1: the system does not grant it */
    struct arrival *arrival;
};

struct arrival {
    const char *dev;
    struct source events, links;
    unsigned count;
    unsigned open_sources;
    struct waiters changed;
};

static void tell(struct arrival *arrival)
{
    arrival->count++;
    waiters_wake(&arrival->changed);
}

/* ---- the kernel's events ---- */

/* An event is NUL-terminated strings: "add@/devices/...", "SUBSYSTEM=block", ... */
static bool is_about_a_disk(const char *event, size_t length)
{
    static const char wanted[] = "SUBSYSTEM=block";

    return memmem(event, length, wanted, sizeof wanted) != NULL;
}

static void on_event(uv_poll_t *poll, int status, int what)
{
    struct source *source = poll->data;
    char event[READ_SIZE];
    bool news = false;
    ssize_t n;

    (void)status, (void)what;
    while ((n = recv(source->fd, event, sizeof event, MSG_DONTWAIT)) > 0)
        news |= is_about_a_disk(event, (size_t)n);
    if (news)
        tell(source->arrival);
}

static int open_events(void)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP};
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

    if (fd < 0)
        return -1;
    /* Too many events at once are lost quietly: libuv takes an error for the end. */
    setsockopt(fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &(int){1}, sizeof(int));
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* ---- links ---- */

/* Harmless for folders that are watched already. */
static void watch_folders(const struct arrival *arrival)
{
    for (size_t i = 0; i < COUNT_OF(FOLDERS); i++) {
        CLEANUP(freep) char *folder = mem_printf("%s%s", arrival->dev, FOLDERS[i]);

        (void)inotify_add_watch(arrival->links.fd, folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
    }
}

static void on_link(uv_poll_t *poll, int status, int what)
{
    struct source *source = poll->data;
    char news[READ_SIZE];

    (void)status, (void)what;
    while (read(source->fd, news, sizeof news) > 0)
        ;
    watch_folders(source->arrival);
    tell(source->arrival);
}

/* ---- both ---- */

static void open_source(struct arrival *arrival, struct source *source, struct loop *loop, int fd,
                        uv_poll_cb heard)
{
    *source = (struct source){.fd = fd, .arrival = arrival};
    if (fd < 0)
        return;
    uv_poll_init(loop_uv(loop), &source->poll, fd);
    source->poll.data = source;
    uv_poll_start(&source->poll, UV_READABLE, heard);
    uv_unref((uv_handle_t *)&source->poll);
    arrival->open_sources++;
}

struct arrival *arrival_new(struct loop *loop, const char *dev)
{
    struct arrival *arrival = mem_alloc(sizeof *arrival);

    arrival->dev = dev;
    waiters_init(&arrival->changed);
    open_source(arrival, &arrival->events, loop, open_events(), on_event);
    open_source(arrival, &arrival->links, loop, inotify_init1(IN_CLOEXEC | IN_NONBLOCK), on_link);
    if (arrival->links.fd >= 0)
        watch_folders(arrival);
    return arrival;
}

static void on_closed(uv_handle_t *handle)
{
    struct source *source = handle->data;

    close(source->fd);
    source->arrival->open_sources--;
    waiters_wake(&source->arrival->changed);
}

void arrival_close(struct task *self, struct arrival *arrival)
{
    struct source *sources[] = {&arrival->events, &arrival->links};

    for (size_t i = 0; i < COUNT_OF(sources); i++)
        if (sources[i]->fd >= 0)
            uv_close((uv_handle_t *)&sources[i]->poll, on_closed);
    while (arrival->open_sources > 0)
        wait_uninterruptible(self, &arrival->changed);
    free(arrival);
}

unsigned arrival_count(const struct arrival *arrival)
{
    return arrival->count;
}

struct err *arrival_wait(struct task *self, struct arrival *arrival, unsigned seen,
                         uint64_t deadline)
{
    while (arrival->count == seen)
        TRY(wait_for_change(self, &arrival->changed, deadline));
    return NULL;
}
