#include "test/azsim/model/ownership.h"

#include "test/azsim/model/attachment.h"

void ownership_catch_up(struct disk *disk)
{
    struct ownership *shown = &disk->shown;

    json_decref(shown->vms);
    shown->vms = NULL;
    shown->state = disk_state(disk);
    LIST_FOREACH(&disk->attachments, link) {
        if (!ATTACHMENT_OF_DISK(link)->attached)
            continue;
        if (!shown->vms)
            shown->vms = json_array();
        json_array_append_new(shown->vms, json_string(ATTACHMENT_OF_DISK(link)->vm->id));
    }
}

static void on_heard(void *ctx)
{
    ownership_catch_up(ctx);
}

void ownership_changed(struct disk *disk, enum latency_kind latency)
{
    struct model *model = disk->model;
    uint64_t lag = model_draw(model, latency);

    disk->owned_us = model_now_us(model);
    model_changed_disk(model, disk);
    if (lag == 0)
        ownership_catch_up(disk);
    else
        loop_start_timer(model->loop, &disk->shown.timer, loop_now(model->loop) + lag, on_heard,
                         disk);
}

void ownership_fini(struct disk *disk)
{
    loop_stop_timer(disk->model->loop, &disk->shown.timer);
    json_decref(disk->shown.vms);
}
