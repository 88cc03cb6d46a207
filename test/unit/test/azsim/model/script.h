/* script.h - a small subscription, and sentences that act on it and look at it.
 *
 * A script is lines; each is a command, and what Azure is expected to refuse it with stands after
 * "->". Time is virtual; an attach takes 10 s, a detach 5 s, an update 2 s, a creation and a
 * deletion 1 s, a snapshot 1 s, a copy behind it 100 s, a change of power 3 s. VMs: vm1, vm2 (zone
 * 1, 8 disks), far (zone 2), regional (no zone), small (2 disks), plain (no Premium disks), ultra
 * (the only one that takes Ultra disks), uniform (instance 7 of scale set pool), flexible (of
 * flex).
 *
 *     disk NAME [SIZE [MAX_SHARES [SKU [ZONE]]]]   PUT, then 1 s pass; - stands for a default
 *     delete NAME                    DELETE
 *     attach VM NAME[@LUN]...        attachDetachDataDisks
 *     detach VM NAME...              the same; NAME! by force
 *     list VM NAME[@LUN][-]...       PATCH with these data disks; NAME- is to be detached
 *     touch VM                       PATCH with nothing
 *     remove VM                      the VM is deleted
 *     power VM STATE
 *     act VM start|powerOff|deallocate|reapply     the same by a client of ARM
 *     snapshot NAME SOURCE [full|start [REGION]]   PUT, then 1 s pass; of a disk or a snapshot
 *     restore NAME SOURCE [SIZE [SKU [ZONE [REGION]]]]      a disk from a snapshot or a disk, 1 s
 *     grow NAME SIZE                 PATCH of a disk, 2 s
 *     forget NAME                    DELETE of a snapshot, 1 s
 *     latency KIND=TIME
 *     setting NAME VALUE             of model/settings.h
 *     wait TIME
 *     stop / start                   a new model goes on from the snapshot of the old one
 *     break NAME / mend              devices fail to attach this disk
 *     model VM NAME@LUN...           what the VM's model lists, - behind what is to be detached
 *     actual VM NAME@LUN...          what is attached to it
 *     devices TEXT                   what the devices were told since the last look
 *     state NAME STATE [VM...]       of a disk, and who owns it
 *     shown NAME STATE [VM...]       the same as clients are told
 *     runs VM POWER                  of a VM, as its instance view says it
 *     kept NAME SIZE PERCENT [stopped] [in REGION]      of a snapshot, or gone; in eastus else
 *     copied NAME SIZE PERCENT       of a disk
 *     vm VM PROVISIONING [CODE]      of a VM, and what its last operation failed with
 *     operation N STATUS [CODE]      the N-th operation that the script started, from 1
 */
#pragma once

#include "test/azsim/model/model.h"

struct world;

struct world *world_new(void);
void world_free(struct world *world);
struct model *world_model(struct world *world);
struct loop *world_loop(struct world *world);

/* Fails the test at the first line that is not as it says. */
void world_run(struct world *world, const char *script);

/* Operations are counted from 1 again; a world remembers not many. */
void world_forget_operations(struct world *world);

/* JSON written with single quotes. */
json_t *json_of(const char *text);
