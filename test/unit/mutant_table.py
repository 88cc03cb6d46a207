"""The mutants: each is a text of the product, what takes its place, and the guard that is broken.
The unit tests of its folder have to find it."""

from dataclasses import dataclass

import mutation

AZURE = "provisioner-lib/azure/"


@dataclass(frozen=True)
class Mutant(mutation.Mutant):
    test: str = ""  # which is tried first; "": the one that is named after the file


MUTANTS = [
    # ---- Azure: the list of a VM's disks ----
    Mutant("a VM's list is written over what somebody else wrote meanwhile", AZURE + "vm_update.c",
           '    write.if_match = json_string_value(json_object_get(vm, "etag"));\n', ""),
    Mutant("an answer without a list of disks is an empty list", AZURE + "vm_update.c",
           "    if (!json_is_array(disks))\n"
           '        return err_new(ERR_UNAVAILABLE, "GET %s: a VM without a list of disks", vm_id);\n', ""),
    Mutant("what is to leave a VM's list stays", AZURE + "vm_update.c",
           'json_object_set_new(copy, "toBeDetached", json_true());', "(void)copy;"),
    Mutant("other disks of a list lose their settings", AZURE + "vm_update.c",
           "json_t *copy = json_copy(entry);",
           'json_t *copy = json_pack("{s:O, s:O}", "lun", json_object_get(entry, "lun"),\n'
           '                                 "managedDisk", json_object_get(entry, "managedDisk"));'),
    Mutant("an instance of a scale set is patched", AZURE + "vm_update.c",
           '? "PUT" : "PATCH";', '? "PATCH" : "PATCH";'),
    # ---- Azure: changes of VMs ----
    Mutant("a disk is changed on two VMs at once", AZURE + "vm_batch.c",
           "if (busy && busy->vm != vm)", "if (busy && busy->vm != vm && !vm)", "vm_queue"),
    Mutant("more disks than places are sent", AZURE + "vm_batch.c",
           "|| places > room || !fits", "|| !fits", "vm_queue"),
    Mutant("a refused batch is not halved", AZURE + "vm_queue.c",
           '(batch->n + 1) / 2 - 1, "halved"', 'batch->n - 1, "halved"'),
    Mutant("a model from before a change is believed", AZURE + "vm_queue.c",
           "vm->known = !sent && known;", "(void)sent, vm->known = known;", "looks"),
    Mutant("what is no longer wanted is sent", AZURE + "vm_queue.c",
           "    answer_unwanted(vm, NULL);\n", "", "vm_withdrawal"),
    Mutant("disks are let go although nobody knows what became of them", AZURE + "vm_queue.c",
           "    if (unknown)\n        see_it_end(self, vm, urgency);\n",
           "    (void)unknown, (void)see_it_end;\n", "vm_withdrawal"),
    Mutant("a LUN that has become free does not rest", AZURE + "vms.c",
           "    vm->freed |= freed;\n", "", "vm_queue"),
    Mutant("a VM whose state has no name is settled", AZURE + "vm_model.c",
           "    return CLOUD_INSTANCE_CHANGING;\n", "    return CLOUD_INSTANCE_SETTLED;\n", "azure"),
    # ---- Azure: requests ----
    Mutant("the Retry-After of an operation is ignored", AZURE + "arm_client.c",
           "    if (retry_after)\n        return retry_after;\n", "    (void)retry_after;\n"),
    Mutant("what waits for a connection passes a refusal", AZURE + "arm_client.c",
           "    return !parting->refused;\n", "    return true;\n"),
    Mutant("a refusal closes no bucket", AZURE + "arm_client.c",
           "if (err && err_kind(err) == ERR_THROTTLED)", "if (err && !request)"),
    Mutant("an operation that cannot be followed has failed", AZURE + "arm_client.c",
           'err_new(ERR_UNAVAILABLE, "what became of', 'err_new(ERR_INVALID, "what became of'),
    Mutant("a gateway's 404 means that the disk is gone", AZURE + "arm_error.c",
           "{404, ERR_UNAVAILABLE}", "{404, ERR_NOT_FOUND}"),
    Mutant("Retry-After is taken for milliseconds", AZURE + "arm_error.c",
           "return seconds * 1000;", "return seconds;"),
    # ---- Azure: budgets ----
    Mutant("a bucket that refused is open again at once", AZURE + "arm_limits.c",
           "now + err_retry_after_ms(err), now);", "now, now);", "vm_queue"),
    Mutant("a bucket is refilled before Azure's", AZURE + "budget.c",
           "bucket->since = now + TRAVEL_MS;", "bucket->since = now;"),
    # ---- Azure: credentials ----
    # ---- Azure: disks ----
]
