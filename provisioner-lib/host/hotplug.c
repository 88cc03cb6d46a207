#include "provisioner-lib/host/hotplug.h"

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

/* A descriptor that tells of disks that come. */
struct source {
    uv_poll_t poll;
    int fd; /* -1: the system does not grant it */
    struct hotplug *hotplug;
};

struct hotplug {
    const char *dev;
    struct source events, links;
    unsigned count;
    unsigned open_sources;
    struct waiters changed;
};

static void tell(struct hotplug *hotplug)
{
    hotplug->count++;
    waiters_wake(&hotplug->changed);
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
        tell(source->hotplug);
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
static void watch_folders(const struct hotplug *hotplug)
{
    for (size_t i = 0; i < COUNT_OF(FOLDERS); i++) {
        CLEANUP(freep) char *folder = mem_printf("%s%s", hotplug->dev, FOLDERS[i]);

        (void)inotify_add_watch(hotplug->links.fd, folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
    }
}

static void on_link(uv_poll_t *poll, int status, int what)
{
    struct source *source = poll->data;
    char news[READ_SIZE];

    (void)status, (void)what;
    while (read(source->fd, news, sizeof news) > 0)
        ;
    watch_folders(source->hotplug);
    tell(source->hotplug);
}

/* ---- both ---- */

static void open_source(struct hotplug *hotplug, struct source *source, struct loop *loop, int fd,
                        uv_poll_cb heard)
{
    *source = (struct source){.fd = fd, .hotplug = hotplug};
    if (fd < 0)
        return;
    uv_poll_init(loop_uv(loop), &source->poll, fd);
    source->poll.data = source;
    uv_poll_start(&source->poll, UV_READABLE, heard);
    uv_unref((uv_handle_t *)&source->poll);
    hotplug->open_sources++;
}

struct hotplug *hotplug_new(struct loop *loop, const char *dev)
{
    struct hotplug *hotplug = mem_alloc(sizeof *hotplug);

    hotplug->dev = dev;
    waiters_init(&hotplug->changed);
    open_source(hotplug, &hotplug->events, loop, open_events(), on_event);
    open_source(hotplug, &hotplug->links, loop, inotify_init1(IN_CLOEXEC | IN_NONBLOCK), on_link);
    if (hotplug->links.fd >= 0)
        watch_folders(hotplug);
    return hotplug;
}

static void on_closed(uv_handle_t *handle)
{
    struct source *source = handle->data;

    close(source->fd);
    source->hotplug->open_sources--;
    waiters_wake(&source->hotplug->changed);
}

void hotplug_close(struct task *self, struct hotplug *hotplug)
{
    struct source *sources[] = {&hotplug->events, &hotplug->links};

    for (size_t i = 0; i < COUNT_OF(sources); i++)
        if (sources[i]->fd >= 0)
            uv_close((uv_handle_t *)&sources[i]->poll, on_closed);
    while (hotplug->open_sources > 0)
        wait_uninterruptible(self, &hotplug->changed);
    free(hotplug);
}

unsigned hotplug_count(const struct hotplug *hotplug)
{
    return hotplug->count;
}

struct err *hotplug_wait(struct task *self, struct hotplug *hotplug, unsigned seen,
                         uint64_t deadline)
{
    while (hotplug->count == seen)
        TRY(wait_for_change(self, &hotplug->changed, deadline));
    return NULL;
}
