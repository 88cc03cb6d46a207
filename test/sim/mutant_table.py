"""The mutants: each is a text of the product, what takes its place, and the guard that is broken."""

from typing import NamedTuple

PLAN = "controller/attachment_plan.c"
VIEW = "controller/attachment_view.c"
RECORD = "controller/attachment_record.c"
QUEUE = "provisioner-lib/azure/vm_queue.c"
BATCH = "provisioner-lib/azure/vm_batch.c"


class Mutant(NamedTuple):
    name: str
    path: str
    old: str  # there exactly once
    new: str
    profile: str = ""  # what of the simulation is to find it; "": all profiles, as the seeds have it
    company: str = ""  # a kind of incident that is to happen too


MUTANTS = [
    # ---- roles ----
    Mutant("published twice: another primary is no obstacle", "controller/publish_plan.c",
           "->answer == ANSWER_REFUSE)", "->answer == ANSWER_RELEASE)", "by-hand"),
    Mutant("promoted before the former primary is demoted", VIEW,
           "s->in.role_taken |= single_writer && recorded_role(other) == ROLE_IS_PRIMARY;", ""),
    Mutant("promoted without looking at deletionTimestamp", "controller/attachment_states.c",
           "{ON_PUBLISH, PHASE_LEAVING, ANSWER_BUSY,", "{ON_PUBLISH, PHASE_LEAVING, ANSWER_PROMOTE,"),
    Mutant("published replica collected", "controller/collection.c",
           "if (in->published || in->in_use || !in->attached)", "if (!in->attached)"),
    Mutant("replica under a mount of before", "controller/replica_view.c",
           "is_still_used(scene, row) ? REFUSAL_IN_USE : refusal;",
           "is_still_used(scene, row) ? REFUSAL_NONE : refusal;", "node-deaths", "node-cut-long"),
    Mutant("deadline of collection forgotten", "controller/collection.c",
           "return err ? 0 : deadline;", "return 0;"),
    Mutant("replicas never collected", "controller/collection.c",
           "COLLECTION_WAIT : COLLECTION_DUE", "COLLECTION_WAIT : COLLECTION_WAIT"),
    Mutant("demoting detaches", "controller/attachment_states.c",
           "{ON_UNPUBLISH_KEEPING, PHASE_PRIMARY_ATTACHED, ANSWER_DEMOTE,",
           "{ON_UNPUBLISH_KEEPING, PHASE_PRIMARY_ATTACHED, ANSWER_NOTHING,"),
    Mutant("demoting ends other replicas", "controller/collection.c",
           "return (struct collection_plan){in->now_us < at ? COLLECTION_WAIT : COLLECTION_DUE, at};",
           "return (struct collection_plan){COLLECTION_DUE, at};", "rolling"),
    # ---- shares, places, LUNs ----
    Mutant("primary waits for a replica's place", PLAN,
           "plan.victim = slot_give_way(in->neighbours, in->n_neighbours);",
           "plan.victim = in->n_neighbours;"),
    Mutant("what is no longer wanted is sent", "controller/attachment.c",
           "attachment_next(&now.in).step == STEP_ATTACH && exchange_holds(wish, &now);",
           "exchange_holds(wish, &now);", "azure-faults", "azure-throttled"),
    Mutant("replica attached before the primary", PLAN,
           "return in->wanted == ROLE_IS_REPLICA && (in->primary_waits || !in->primary_attached);",
           "return false;"),
    Mutant("shares counted without those that leave", VIEW,
           "s->in.other_shares += holds_share(other);",
           "s->in.other_shares += !is_deleting(objects[i]) && holds_share(other);"),
    Mutant("a disk changed on two VMs at once", BATCH,
           "if (busy && busy->vm != vm)", "if (busy && busy->vm != vm && !vm)"),
    Mutant("sibling not told", "controller/mirror.c",
           "        enqueue_attachment(controller, siblings[i]);", "        (void)siblings;",
           "busy", "pod-move"),
    Mutant("LUN of another record taken", PLAN,
           "&& !in->luns_taken[lun] && !is_in_model(in, lun);", "&& !is_in_model(in, lun);"),
    Mutant("LUN of the model not recorded", PLAN,
           ": step_at(STEP_RECORD_ATTACHED, slot->lun);",
           ": step_at(STEP_RECORD_ATTACHED, in->lun < 0 ? 0 : in->lun);", "by-hand"),
    Mutant("LUN that is about to be recorded taken", VIEW,
           "            s->in.luns_taken[claim->lun] = true;", "            (void)claim;"),
    Mutant("LUN of another disk on the VM taken", PLAN,
           "&& !in->luns_taken[lun] && !is_in_model(in, lun);", "&& !in->luns_taken[lun];",
           "drains", "node-foreign-disks"),
    # ---- what is in Azure ----
    Mutant("finalizer dropped while the disk is attached", PLAN,
           "if (!in->instance)\n        return step(STEP_REMOVE_FINALIZER);",
           "if (in->looked)\n        return step(STEP_REMOVE_FINALIZER);"),
    Mutant("model from before the change believed", QUEUE,
           "    vm->known = false;\n    struct err *err = vm_update_send(self, vm->vms->arm, vm->id, update, &vm->vms->way);\n"
           "    vm->known = false; /* whatever was read meanwhile may be from before */\n",
           "    struct err *err = vm_update_send(self, vm->vms->arm, vm->id, update, &vm->vms->way);\n"),
    Mutant("failed VM not repaired", PLAN, "return step(STEP_REPAIR);", "return step(STEP_NONE);", "azure-faults"),
    Mutant("detach of what is on a VM that is gone", PLAN,
           "if (!in->instance)\n        return step(STEP_REMOVE_FINALIZER);\n    if (!slot_of(",
           "if (in->instance && !slot_of("),
    Mutant("disks let go although nobody knows what became of them", QUEUE,
           "    if (unknown)\n        see_it_end(self, vm);\n", "    (void)unknown, (void)see_it_end;\n",
           "azure-faults", "azure-operation-unknown,azure-token-refused"),
    Mutant("AzVolume removed before an attachment that is not heard of yet",
           "controller/volume_plan.c", "in->unattached ? VOLUME_REMOVE_FINALIZER", "in ? VOLUME_REMOVE_FINALIZER",
           "churn", "watch-late"),
    Mutant("AzVolume removed before its disk", "controller/volume_plan.c",
           "!in->disk_deleted)\n        return VOLUME_DELETE;",
           "!in->disk_deleted && false)\n        return VOLUME_DELETE;"),
    Mutant("disk deleted though nobody asked", "controller/volume_plan.c",
           "if (in->delete_requested && !in->pre_provisioned", "if (!in->pre_provisioned",
           "busy", "volume-record-deleted-by-hand"),
    Mutant("attached on record while the VM is changing", PLAN,
           "case CLOUD_INSTANCE_CHANGING:\n        return step(STEP_LOOK_LATER);",
           "case CLOUD_INSTANCE_CHANGING:\n"
           "        return step_at(STEP_RECORD_ATTACHED, slot->lun);", "azure-faults"),
    Mutant("what is at the first LUN is detached to make room", BATCH,
           "if (vm_model_find(&vm->model, change->in_exchange[i]))\n"
           "            add_detach(whole, change->in_exchange[i]);",
           "if (vm->model.n_slots > 0)\n            add_detach(whole, vm->model.slots[0].disk_id);"),
    Mutant("what is on record is not looked at", PLAN,
           "return step(there ? STEP_VERIFIED : STEP_RECORD_LOST);",
           "return step(there ? STEP_VERIFIED : STEP_NONE);", "by-hand"),
    # ---- writes ----
    Mutant("an older object takes the place of a newer one", "lib/kube/store.c",
           "else if (object->version > entry->object->version)", "else", "bad-api"),
    Mutant("an old leader finishes its write after a pause", "controller/instance.c",
           "    return instance_leads(ctx);\n}\n\nstatic", "    return ctx != NULL;\n}\n\nstatic",
           "failovers", "leader-paused"),
    Mutant("own write not seen", RECORD,
           "    if (!err)\n        store_note(controller->attachments, written);\n    else if (!forget_if_gone",
           "    if (err && !forget_if_gone"),
    Mutant("status written over what somebody else wrote", RECORD,
           'json_t *patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion",\n'
           "                              object->metadata->resource_version,",
           'json_t *patch = json_pack("{s:{s:s}, s:o}", "metadata", "name", object->metadata->name,'),
    Mutant("outcome of a lost write not learned", RECORD,
           "        learn_outcome(self, controller, object);", "        (void)learn_outcome;", "bad-api", "watch-late"),
    Mutant("recovered as the primary at once", "controller/recovery.c",
           "node, ROLE_REPLICA);", "node, ROLE_PRIMARY);", "bad-api", "node-recreate"),
    # ---- the mirror ----
    Mutant("new leader goes by an old mirror", "controller/leader.c",
           "while ((err = mirror_catch_up(self, controller)) &&", "while ((err = NULL) &&", "drains", "watch-late"),
    Mutant("a lost place in a watch is not listed again", "lib/kube/reflector.c",
           "    free(TAKE_PTR(reflector->version));\n", "", "bad-api"),
    Mutant("a place in a watch that is refused is not lost", "lib/kube/reflector.c",
           "    if (err_kind(err) == ERR_OUT_OF_RANGE)\n        lose_place(reflector);", "",
           "bad-api"),
    Mutant("deletions only by events, not by lists", "lib/kube/reflector.c",
           "store_end_list(reflector->config.store, strtoull(version, NULL, 10));",
           "store_end_list(reflector->config.store, 0);", "bad-api"),
    Mutant("watched from now on, not from the list on", "lib/kube/reflector.c",
           "        .resource_version = reflector->version,\n", "", "churn", "history-compacted"),
    Mutant("new leader waits for changes", "controller/leader.c",
           "    mirror_enqueue_all(controller);", "    (void)mirror_enqueue_all;"),
    # ---- calls ----
    Mutant("published before there is a LUN", "controller/csi_publish.c",
           "return detail && detail->n_publish__context > 0;", "return true;"),
    Mutant("no AzVolume, so no disk", "controller/csi_delete.c", "    if (!is_left)\n", "    if (!is_left || true)\n",
           "busy", "volume-record-deleted-by-hand"),
    Mutant("AzVolume of a volume in use stays deleted", "controller/volume_plan.c",
           "if (in->claimed && !in->delete_requested)", "if (in->claimed && !in->delete_requested && false)",
           "busy", "volume-record-deleted-by-hand"),
    Mutant("deleted before the disk is gone", "controller/csi_delete.c",
           "return wait_gone(self, call, object->key, object->metadata->uid);",
           "return wait_gone(self, call, object->key, \"\");"),
    Mutant("unpublished before it is detached", "controller/csi_unpublish.c",
           "if (!object || strcmp(object->metadata->uid, uid) != 0)", "if (key && uid && object != call->ctx)"),
    Mutant("demoted where the node may still write", "controller/csi_unpublish.c",
           "*ret = former == FORMER_NODE_DONE;", "*ret = true;", "node-deaths"),
    Mutant("published by an old mirror", "controller/csi_publish.c",
           "if (answer == ANSWER_WAIT) {", "if (answer == ANSWER_WAIT && !name) {", "bad-api"),
    Mutant("failed creation stays for ever", "controller/failed_creation.c",
           "return err ? 0 : at;", "return err ? 0 : at * 0;", "churn"),
    Mutant("unpublish of a node that is gone waits for ever", "controller/attachment_states.c",
           "if (in->deleting && primary && !in->detach_requested && in->node_exists)",
           "if (in->deleting && primary)"),
    Mutant("zone ignored", "controller/volume.c",
           '.zone = disk_sku_is_zone_redundant(parameters->sku) ? "" : wanted_zone(',
           '.zone = disk_sku_is_zone_redundant(parameters->sku) || s ? "" : wanted_zone('),
    # ---- pace ----
    Mutant("429 retried early", "provisioner-lib/azure/arm_limits.c",
           "now + err_retry_after_ms(err), now);", "now, now);", "azure-faults"),
    # ---- replicas ----
    Mutant("replicas never made", "controller/replica_plan.c",
           "if (tally->shares < in->max_shares) {", "if (tally->shares > in->max_shares) {"),
    Mutant("surplus replicas stay", "controller/replica_plan.c",
           "while (tally->staying > in->wanted &&", "while (tally->staying > in->wanted + 9 &&"),
    Mutant("a node that is well again stays lost", "controller/node_table.c",
           "    bool unwell = !row->ready", "    bool unwell = row->unwell || !row->ready"),
]
