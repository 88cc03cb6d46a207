/* scene.h - a machine with a loop, and a task that plays one scene on it, for the tests of host.h.
 */
#pragma once

#include <stdlib.h>

#include "provisioner-lib/host/host.h"
#include "test/unit/provisioner-lib/host/disk.h"

#define SCENE_VOLUME "/subscriptions/0/resourceGroups/rg/providers/Microsoft.Compute/disks/data"

static const uint64_t LONG = 60 * 1000; /* milliseconds; nothing here is to take so long */

struct scene {
    struct job_permit permit; /* counts what it is asked; `lost`: why it is none any more */
    const char *lost;
    unsigned begun, ended;
    const char *running; /* a file that is there while the program runs; NULL: none */
    struct loop *loop;
    struct host *host;
    struct device_roots roots;
    const char *memory_max; /* a file: the limit of the container, which has none at first */
    void (*play)(struct task *self, struct scene *scene);
    bool played;
};

/* Of each test: SCENE(test_fn). */
int scene_setup(void **state);
int scene_teardown(void **state);
#define SCENE(fn) cmocka_unit_test_setup_teardown(fn, scene_setup, scene_teardown)

void play(struct scene *scene, void (*fn)(struct task *self, struct scene *scene));

uint64_t in(struct scene *scene, uint64_t ms);
void await(struct task *self, const bool *what);
void await_file(struct task *self, const char *path);

void link_lun(struct scene *scene, unsigned lun, const char *target);
/* The disk, at LUN 3. */
void find(struct task *self, struct scene *scene, const struct disk *disk, struct device *ret);
struct disk_expectation expect(const struct disk *disk);

/* For CLEANUP: puts back what PATH was. */
void restore_path(char **before);
