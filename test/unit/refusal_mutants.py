"""Mutants of what is refused because of a disk: an attach by Azure, and a new disk by the driver."""

from .mutant import Mutant

ATTACH = "controller/attachment/attach.c"
FAILED_ATTEMPT = "provisioner-lib/records/failed_attempt.c"
FAILED_CREATION = "controller/volume/failed_creation.c"
REQUESTS = "controller/csi/attachment_requests.c"
UNPUBLISHED = "controller/attachment/unpublished.c"

REFUSAL_MUTANTS = [
    # ---- attaches ----
    Mutant("a disk that was just created is not attached", ATTACH,
           "*ret_passes = differs || refusal == ERR_NOT_FOUND;", "*ret_passes = differs;"),
    Mutant("whether a disk is there is not asked", ATTACH,
           "    case ERR_NOT_FOUND:\n    case ERR_BUSY:", "    case ERR_BUSY:"),
    Mutant("a disk that was made anew is the one on record", "provisioner-lib/records/volume.c",
           "strcmp(seen, unique_id) != 0;", "strcmp(seen, unique_id) == 99;"),
    Mutant("a disk that is gone is asked for again and again", ATTACH,
           "        passes = err_is_transient(err);\n", "        passes = true;\n"),
    Mutant("a disk that could not be looked for is gone", ATTACH,
           "        passes = err_is_transient(err);\n", "        passes = false;\n"),
    # ---- what only an old record calls a failed creation ----
    Mutant("a disk that a VM has goes with a failed creation", FAILED_CREATION,
           "    if (disk->n_instances > 0)\n        return \"a VM has it\";\n", ""),
    Mutant("a disk that a VM has had goes with a failed creation", FAILED_CREATION,
           "    if (disk->owned_us > disk->made_us + MAKING_US)\n        return \"a VM has had it\";\n", ""),
    Mutant("a disk that no VM has had stays for ever", FAILED_CREATION, "disk->made_us + MAKING_US)", "0)"),
    Mutant("a disk goes with a failed creation whenever it was made", FAILED_CREATION,
           "return failed_attempt_excludes(volume->metadata, forget_after, disk->made_us);",
           "return forget_after ? NULL : failed_attempt_excludes(volume->metadata, 0, 0);"),
    Mutant("a later attempt has failed, too", FAILED_ATTEMPT,
           'return made_us > last_us + CLOCKS_US ? "it was made later" : NULL;', "(void)last_us;\n    return NULL;"),
    Mutant("what was made until the record goes is left of the last attempt", FAILED_ATTEMPT,
           "goes_us - (int64_t)FAILED_STAYS_MS * 1000", "goes_us"),
    Mutant("the clocks of the cluster and of the cloud agree", FAILED_ATTEMPT,
           "made_us > last_us + CLOCKS_US", "made_us > last_us"),
    Mutant("what was there before the record is left of its attempts", FAILED_ATTEMPT,
           "    if (made_us && made_us < first_us - CLOCKS_US)\n        return \"it was made before the record\";\n",
           "    (void)first_us;\n"),
    Mutant("what does not say when it was made stays for ever", FAILED_ATTEMPT, "    if (made_us && made_us <", "    if (made_us <"),
    Mutant("a disk goes though its volume was forgotten only", FAILED_CREATION,
           "return request && strcmp(request, DELETE_REQUEST_OF_FAILED_CREATION) == 0;", "return !request;"),
    # ---- disks that people have changed ----
    Mutant("a disk of an image has whole GiB", "provisioner-lib/azure/managed_disk.c",
           "return bytes / GIB == gib ? bytes : gib * GIB;", "return gib * GIB;", "managed_disk"),
    Mutant("a disk that grows has the bytes of before", "provisioner-lib/azure/managed_disk.c",
           "return bytes / GIB == gib ? bytes : gib * GIB;", "return bytes ? bytes : gib * GIB;", "managed_disk"),
    Mutant("a disk has the shares that its class asks for", "provisioner-lib/records/volume.c",
           "return seen < wanted ? seen : wanted;", "return wanted;"),
    Mutant("a disk gives more shares than its class asks for", "provisioner-lib/records/volume.c",
           "return seen < wanted ? seen : wanted;", "return seen;"),
    Mutant("the audit does not see whose shares somebody has lowered", "provisioner-lib/audit/compare_disks.c",
           "    if (disk->max_shares == recorded)", "    if (disk->max_shares >= 0)", "compare"),
    Mutant("a disk that the driver changes is found to differ", "provisioner-lib/audit/compare_disks.c",
           "    if (strcmp(volume_state(as_volume(object)), STATE_UPDATING) == 0)\n        return;\n", "", "compare"),
    Mutant("a volume whose PersistentVolume is gone is nobody's concern", "provisioner-lib/audit/compare_records.c",
           "    if (!wanted || group->is_of_kubernetes ||", "    if (wanted || group->is_of_kubernetes ||", "compare"),
    Mutant("a volume of another PersistentVolume is without one", "provisioner-lib/audit/compare_records.c",
           "    if (!wanted || group->is_of_kubernetes ||", "    if (!wanted ||", "compare"),
    # ---- calls ----
    Mutant("a volume that is being made is refused for good", "controller/csi/create_volume.c",
           "    if (differs && !volume_is_created(as_volume(object)))\n        return err_as(differs, ERR_BUSY);\n", "",
           "begin_anew"),
    Mutant("a volume that was made with other parameters may come yet", "controller/csi/create_volume.c",
           "    if (differs && !volume_is_created(as_volume(object)))", "    if (differs)", "begin_anew"),
    Mutant("a call hears of an attempt from before it", REQUESTS,
           "STATE_ATTACHMENT_FAILED) != 0) {", "STATE_ATTACHMENT_FAILED) != 0 || object) {", "publish"),
    Mutant("a call writes to an attachment that is under way", REQUESTS,
           "STATE_ATTACHMENT_FAILED) != 0) {", "STATE_ATTACHMENT_FAILED) == 99) {", "publish"),
    # ---- primaries that nobody has unpublished by a call ----
    Mutant("a primary that kubelet has in use is unpublished", UNPUBLISHED,
           "*ret = use == VOLUME_NOT_IN_USE;", "*ret = use != VOLUME_IN_USE_NO_NODE;", "unpublished"),
    Mutant("whether a primary is published is not asked", UNPUBLISHED,
           "return *ret ? has_none(self, controller, spec, ret) : NULL;", "return NULL;", "unpublished"),
    Mutant("a VolumeAttachment of which nothing is known is of another volume", UNPUBLISHED,
           "return !name || same_text(name, of->volume_name);", "return name && same_text(name, of->volume_name);", "unpublished"),
    Mutant("the last VolumeAttachment decides", UNPUBLISHED,
           "*ret = *ret && !may_be_of(controller, one, of);", "*ret = !may_be_of(controller, one, of);", "unpublished"),
    # ---- what a backup tool restores ----
    Mutant("a record that was restored is a request for a disk", "controller/volume/plan.c",
           "    if (in->restored)\n        return VOLUME_REFUSE;\n", ""),
    Mutant("a disk is created for what a backup tool has restored", "controller/volume/reconcile.c",
           "        .restored = restored_without_status(ret->volume),\n",
           "        .restored = !ret->volume && restored_without_status(ret->volume),\n", "restored_record"),
    Mutant("a volume that was restored and asked for since is refused", "controller/volume/restored_record.c",
           " && !*volume_state(volume);", ";"),
]
