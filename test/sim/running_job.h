/* running_job.h - what the plug-in of a simulated machine does to volumes' disks that takes a
 * while: mkfs, fsck, a mount that replays a journal, and the new UUID of a copy's file system.
 *
 * As node/running_job.c and provisioner-lib/host/job.c do it: before one starts it is put on record
 * in the status of the AzVolumeAttachment (ANNOTATION_RUNNING_JOB), and it starts only if this node
 * is the primary by what the API server answers to that. One whose node has lost the role is told
 * to end and ends a while later, a mount when it is done; until then it may write. What its note is
 * not taken away for, because the API server cannot be reached or the plug-in has crashed, is seen
 * to later, when nothing of it runs any more.
 *
 * Jobs belong to their machine and end with its power; who waits for one may leave before it ends.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/rt/task.h"
#include "test/sim/node_attachment.h"

enum job_program { JOB_MKFS, JOB_FSCK, JOB_MOUNT, JOB_SET_UUID };
enum job_outcome { JOB_UNDER_WAY, JOB_DONE, JOB_BROKEN_OFF };

struct running_job {
    struct list link; /* machine->jobs */
    struct machine *machine;
    struct volume *volume;
    enum job_program program;
    struct place place;   /* by which it was permitted */
    uint64_t attachment;  /* sequence of what it writes to: attached again it is another device */
    char disk[UUID_SIZE]; /* its unique id */
    bool stops;           /* it was told to end, or killed */
    bool orphan;          /* left behind by a plug-in that has crashed */
    struct timer end;
    enum job_outcome *report; /* of who waits; NULL: nobody does */
};

/* Runs one to its end, or until `deadline`, when it goes on without its caller. BUSY if there is
 * one on this disk. CANCELED: the mount may be gone. */
struct err *running_job(struct task *self, struct machine *machine, struct volume *volume,
                        const struct place *place, enum job_program program, uint64_t deadline)
    __attribute__((warn_unused_result));
/* NULL: there is none. */
const struct running_job *running_job_find(const struct machine *machine,
                                           const struct volume *volume);
/* Whether a write by it would reach a disk now. */
bool running_job_can_write(const struct running_job *job);

/* Something may have changed for the machine's jobs, and for notes that are left. Must not yield:
 * what is to be done about it comes a moment later. */
void running_jobs_heard(struct machine *machine);
void running_jobs_power_off(struct machine *machine);
/* The plug-in is gone with what it knew; processes are killed, which takes them a while. */
void running_jobs_orphan(struct machine *machine);

#define RUNNING_JOB_OF(item) CONTAINER_OF(item, struct running_job, link)
