#include "test/azsim/model/attachment.h"

#include "lib/base/alloc.h"

struct attachment *attachment_restore(struct vm *vm, unsigned lun, struct disk *disk,
                                      uint64_t sequence)
{
    struct attachment *attachment = mem_alloc(sizeof *attachment);
    struct list *after = disk->attachments.prev;

    *attachment = (struct attachment){.vm = vm, .disk = disk, .lun = lun, .sequence = sequence};
    list_append(&vm->attachments, &attachment->by_vm);
    while (after != &disk->attachments && ATTACHMENT_OF_DISK(after)->sequence > sequence)
        after = after->prev;
    list_append(after->next, &attachment->by_disk);
    return attachment;
}

struct attachment *attachment_claim(struct vm *vm, unsigned lun, struct disk *disk)
{
    return attachment_restore(vm, lun, disk, ++vm->model->sequence);
}

struct refusal *attachment_attach(struct attachment *attachment)
{
    struct model *model = attachment->vm->model;

    if (model->devices) {
        CLEANUP(err_freep)
        struct err *err = model->devices->attach(model->devices_ctx, attachment->vm,
                                                 attachment->lun, attachment->disk);
        if (err)
            return refuse(ATTACH_FAILED, attachment->disk->name, attachment->lun, err_message(err));
    }
    attachment->attached = true;
    ownership_changed(attachment->disk, LATENCY_OWNERSHIP);
    return NULL;
}

static void end(struct attachment *attachment, enum latency_kind latency)
{
    struct model *model = attachment->vm->model;

    list_remove(&attachment->by_vm);
    list_remove(&attachment->by_disk);
    if (attachment->attached) {
        if (model->devices)
            model->devices->detach(model->devices_ctx, attachment->vm, attachment->lun,
                                   attachment->disk);
        ownership_changed(attachment->disk, latency);
    }
    free(attachment);
}

void attachment_end(struct attachment *attachment)
{
    end(attachment, LATENCY_OWNERSHIP);
}

void attachment_end_with_vm(struct attachment *attachment)
{
    end(attachment, LATENCY_ORPHAN);
}

struct attachment *attachment_find(const struct vm *vm, const struct disk *disk)
{
    LIST_FOREACH(&vm->attachments, link) {
        if (ATTACHMENT_OF_VM(link)->disk == disk)
            return ATTACHMENT_OF_VM(link);
    }
    return NULL;
}

struct attachment *attachment_at(const struct vm *vm, unsigned lun)
{
    LIST_FOREACH(&vm->attachments, link) {
        if (ATTACHMENT_OF_VM(link)->lun == lun)
            return ATTACHMENT_OF_VM(link);
    }
    return NULL;
}
