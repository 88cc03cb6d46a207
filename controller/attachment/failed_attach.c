#include "controller/attachment/failed_attach.h"

#include <strings.h>

#include "lib/base/log.h"

bool failed_attach_is_known(const struct controller *controller, const char *uid)
{
    return controller->leading && string_set_has(&controller->leading->failed_attaches, uid);
}

void failed_attach_forget(struct controller *controller, const char *uid)
{
    if (controller->leading)
        string_set_remove(&controller->leading->failed_attaches, uid);
}

/* Others say nothing of the disks: Azure did not get as far. */
static bool is_of_disks(const struct err *err)
{
    switch (err_kind(err)) {
    case ERR_CANCELED:
    case ERR_NOT_SENT:
    case ERR_THROTTLED:
    case ERR_UNAVAILABLE:
    case ERR_DENIED:
    case ERR_NOT_FOUND:
        return false;
    default:
        return true;
    }
}

struct err *failed_attach_repair(struct task *self, const struct attachment_work *work,
                                 enum cloud_urgency urgency)
{
    struct controller *controller = work->controller;
    struct cloud *cloud = controller->cloud;
    CLEANUP(err_freep)
    struct err *err = cloud->ops->instance_repair(self, cloud, work->instance_id, urgency);

    if (!err || !is_of_disks(err) || !controller->leading)
        return TAKE_PTR(err);
    log_warning("%s: the last change of its VM has failed again, so the disk is detached if it is "
                "not attached by now: %s",
                work->object->key, err_message(err));
    string_set_add(&controller->leading->failed_attaches, work->object->metadata->uid);
    return NULL;
}

/* In the model, and not attached by the instance view. */
static bool is_left(const struct cloud_instance *instance, const char *disk_id)
{
    bool found = false;

    for (size_t i = 0; i < instance->n_slots; i++)
        found |=
            strcasecmp(instance->slots[i].disk_id, disk_id) == 0 && !instance->slots[i].attached;
    return found && instance->state == CLOUD_INSTANCE_FAILED;
}

static struct err *take_back(struct task *self, const struct attachment_work *work,
                             enum cloud_urgency urgency)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(cloud_instance_fini) struct cloud_instance instance = {0};

    TRY(cloud->ops->instance_get(self, cloud, work->instance_id, 0, urgency, &instance));
    return is_left(&instance, work->in.disk_id)
               ? cloud->ops->disk_detach(self, cloud,
                                         &(struct cloud_detach){.instance_id = work->instance_id,
                                                                .disk_id = work->in.disk_id,
                                                                .urgency = urgency})
               : NULL;
}

void failed_attach_take_back(struct task *self, const struct attachment_work *work,
                             enum cloud_urgency urgency)
{
    if (!failed_attach_is_known(work->controller, work->object->metadata->uid))
        return;
    CLEANUP(err_freep) struct err *err = take_back(self, work, urgency);
    if (err)
        log_warning(
            "%s: the disk may still be in the model of its VM, and let other changes fail: %s",
            work->object->key, err_message(err));
}
