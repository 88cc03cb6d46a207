/* hotplug.h - news from the kernel and from udev that a disk may have come.
 *
 * Two sources, because either may be missing: the kernel's own events (NETLINK_KOBJECT_UEVENT; they
 * do not reach a container with a user namespace of its own), and the folders in which udev keeps
 * its links (inotify). Neither says which LUN has come, only that a look is worth while; whoever
 * waits also looks from time to time without news. Loop's thread, real loops only.
 */
#pragma once

#include "lib/rt/wait.h"

struct hotplug;

/* `dev` is "/dev". A source that the system does not grant is gone without. */
struct hotplug *hotplug_new(struct loop *loop, const char *dev);
/* Nobody may be waiting. */
void hotplug_close(struct task *self, struct hotplug *hotplug);

/* Counts up with every piece of news: who saw a number and finds another must look again. */
unsigned hotplug_count(const struct hotplug *hotplug);
/* Until the count is no longer `seen`. TIMEOUT at the deadline, CANCELED. */
struct err *hotplug_wait(struct task *self, struct hotplug *hotplug, unsigned seen,
                         uint64_t deadline) __attribute__((warn_unused_result));
