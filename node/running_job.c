#include "node/running_job.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "node/boot_id.h"
#include "node/informers.h"
#include "node/left_mount.h"
#include "node/volume_tasks.h"
#include "provisioner-lib/records/status_annotation.h"

enum { LOOK_AGAIN_MS = 5 * 1000 };

/* ---- writing it ---- */

/* `text` NULL takes it away. With `unchanged` only if nobody has written to the object since. */
static struct err *write_note(struct task *self, struct node *node,
                              const struct kube_object *attachment, const char *text,
                              bool unchanged)
{
    json_t *changes = status_annotation_json(ANNOTATION_RUNNING_JOB, text);

    if_same(attachment, changes);
    if (unchanged)
        if_unchanged(attachment, changes);
    return cached_patch_status(self, node->kube, node->attachments, attachment, changes, NULL);
}

static struct err *begin(struct task *self, struct node *node, const struct kube_object *attachment,
                         const char *program)
{
    CLEANUP(freep) char *boot_id = NULL;
    char now[TIMESTAMP_SIZE];

    TRY(boot_id_read(&boot_id));
    timestamp_format(loop_wall_us(node->loop), now);
    CLEANUP(freep) char *text = mem_printf("%s %s %s", program, now, boot_id);
    return write_note(self, node, attachment, text, false);
}

struct err *running_job_begin(struct task *self, struct node *node,
                              const struct kube_object *attachment, const char *program)
{
    TRY(in_flight_begin(&node->running_jobs, attachment->metadata->uid));
    struct err *err = begin(self, node, attachment, program);
    if (!err)
        return NULL;
    running_job_leave(node, attachment); /* the write may have been made all the same */
    return err_wrap(err, "recording that %s is running", program);
}

void running_job_leave(struct node *node, const struct kube_object *attachment)
{
    in_flight_end(&node->running_jobs, attachment->metadata->uid);
    node_changed(node);
}

void running_job_end(struct task *self, struct node *node, const struct kube_object *attachment)
{
    CLEANUP(err_freep) struct err *err = write_note(self, node, attachment, NULL, false);

    if (err && err_kind(err) != ERR_NOT_FOUND)
        log_warning("%s: cannot remove the annotation " ANNOTATION_RUNNING_JOB
                    " yet, trying again later: %s",
                    attachment->metadata->name, err_message(err));
    running_job_leave(node, attachment);
}

/* ---- what was left behind ---- */

static const char *job_of(const Api__AzVolumeAttachment *attachment)
{
    return attachment_annotation(attachment, ANNOTATION_RUNNING_JOB);
}

static bool is_running(struct node *node, const struct kube_object *attachment)
{
    CLEANUP(err_freep)
    struct err *err = in_flight_begin(&node->running_jobs, attachment->metadata->uid);

    if (!err)
        in_flight_end(&node->running_jobs, attachment->metadata->uid);
    return err != NULL;
}

static struct err *check_unmounted(struct task *self, struct node *node,
                                   const struct kube_object *attachment, const unsigned *lun)
{
    if (left_mount_is_known(node, as_attachment(attachment)->spec->volume__id) || !lun)
        return NULL;
    return host_check_unused(self, node->host, *lun);
}

static struct err *check_over(struct task *self, struct node *node,
                              const struct kube_object *attachment, const char *text)
{
    CLEANUP(freep) char *boot_id = NULL;
    CLEANUP(freep) char *program = mem_strndup(text, strcspn(text, " "));
    const char *boot = strrchr(text, ' ');
    int recorded = attachment_lun(as_attachment(attachment));
    unsigned number = (unsigned)recorded;
    const unsigned *lun = recorded != NO_LUN ? &number : NULL;

    TRY(boot_id_read(&boot_id));
    if (boot && strcmp(boot + 1, boot_id) != 0)
        return NULL; /* the machine has been off since */
    if (strcmp(program, RUNNING_JOB_UNMOUNT) == 0)
        return check_unmounted(self, node, attachment, lun);
    return host_check_idle(self, node->host, lun, program);
}

/* When to look again, if nothing happens. A job that begins meanwhile changes the object. */
static uint64_t clear(struct task *self, struct node *node, struct kube_object *object)
{
    CLEANUP(kube_object_unrefp) struct kube_object *attachment = kube_object_ref(object);
    const char *text = job_of(as_attachment(attachment));

    if (is_running(node, attachment))
        return TIMER_NEVER;
    CLEANUP(err_freep) struct err *err = check_over(self, node, attachment, text);
    if (!err)
        err = write_note(self, node, attachment, NULL, true);
    if (err)
        log_debug("%s: job \"%s\" stays recorded as running: %s", attachment->metadata->name, text,
                  err_message(err));
    else
        log_info("%s: job \"%s\" is no longer running", attachment->metadata->name, text);
    return loop_deadline(node->loop, LOOK_AGAIN_MS);
}

static bool is_due(const Api__AzVolumeAttachment *attachment)
{
    return job_of(attachment) != NULL;
}

/* A disk that hangs holds up what is left of its own volume only. */
static void run(struct task *self, struct node *node, const char *volume)
{
    struct kube_object *object;

    while (!task_is_cancelled(self) && (object = informers_find_attachment(node, volume)) &&
           is_due(as_attachment(object))) {
        uint64_t again = clear(self, node, object);

        err_free(wait_for_change(self, &node->changed, again));
    }
}

void running_job_start(struct node *node, struct task_group *group)
{
    static const struct volume_task_kind kind = {"left job", is_due, run};

    volume_tasks_start(node, group, &kind);
}
