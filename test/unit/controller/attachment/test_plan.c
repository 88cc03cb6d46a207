/* Every situation is one row. The attachment is a string of letters and "key=value"; the rest of
 * the snapshot has the defaults of an attachment in good order. A new rule is a new row. */
#include "controller/attachment/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/alloc.h"

#define DISK "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"

static const char *const step_names[] = {
    [STEP_NONE] = "none",
    [STEP_ADD_FINALIZER] = "add-finalizer",
    [STEP_REMOVE_FINALIZER] = "remove-finalizer",
    [STEP_READ_VM] = "read-vm",
    [STEP_REFRESH_VM] = "refresh-vm",
    [STEP_REQUEUE] = "requeue",
    [STEP_RECORD_ATTACHING] = "record-attaching",
    [STEP_ATTACH] = "attach",
    [STEP_REPAIR] = "repair",
    [STEP_RECORD_ATTACHED] = "record-attached",
    [STEP_RECORD_ROLE] = "record-role",
    [STEP_RECORD_SIZE] = "record-size",
    [STEP_RECORD_LOST] = "record-lost",
    [STEP_RECORD_DISPLACED] = "record-displaced",
    [STEP_VERIFIED] = "verified",
    [STEP_ASK_DISK] = "ask-disk",
    [STEP_RECORD_VM] = "record-vm",
    [STEP_FORGET_VM] = "forget-vm",
    [STEP_RECORD_DETACHING] = "record-detaching",
    [STEP_DETACH] = "detach",
    [STEP_PREEMPT] = "make-room",
    [STEP_RESCHEDULE] = "reschedule",
    [STEP_NO_VM] = "no-vm",
    [STEP_NO_SLOT] = "no-slot",
    [STEP_UNKNOWN_VM] = "unknown-vm",
};

/* What the cloud says: NULL: not read; "-": no VM; else "state limit: lun=disk ..." where the
 * disk is d (ours), D (ours, leaving), a or A (likewise, and there by the machine's own word), y (a
 * neighbour's) or x (another one); "rest=lun" before the
 * colon is a LUN that became free a moment ago. The states "guess" and "unknown" are "ok", with a
 * limit that is built in or that nobody knows. */
struct row {
    const char *why;
    const char *wanted, *role; /* P, R or "" */
    const char *state;         /* new, attaching, attached, detaching */
    int lun;
    const char *flags; /* words, see apply_flags */
    const char *cloud;
    const char *step;
};

static const struct row rows[] = {
    {"a new one gets its finalizer first", "P", "", "new", -1, "bare", NULL, "add-finalizer"},
    {"then the VM's model is read", "P", "", "new", -1, "", NULL, "read-vm"},
    {"the lowest free LUN goes on record before anything is sent", "P", "", "new", -1, "",
     "ok 4: 0=x 2=x", "record-attaching 1"},
    {"a LUN that another attachment has on record is not free", "P", "", "new", -1, "taken=0",
     "ok 4:", "record-attaching 1"},
    {"with its LUN on record it is attached there", "P", "P", "attaching", 1, "", "ok 4: 0=x",
     "attach 1"},
    {"unless somebody took that LUN meanwhile", "P", "P", "attaching", 0, "", "ok 4: 0=x",
     "record-attaching 1"},
    {"a failed attempt keeps its LUN", "R", "R", "attaching", 3, "primary-attached",
     "ok 4:", "attach 3"},
    {"one that has been promoted first records that: who published it is told of its failure", "P",
     "R", "attaching", 3, "", "ok 4:", "record-attaching 3"},
    {"the model has it: it is attached where the model says", "P", "P", "attaching", 1, "",
     "ok 4: 1=d", "record-attached 1"},
    {"attached by somebody else: adopted", "P", "", "new", -1, "", "ok 4: 3=d",
     "record-attached 3"},
    {"a model that is changing proves nothing", "P", "P", "attaching", 1, "", "changing 4: 1=d",
     "requeue"},
    {"a failed change is carried out again", "P", "P", "attaching", 1, "", "failed 4: 1=d",
     "repair"},
    {"an earlier detach must end first", "P", "", "new", -1, "", "changing 4: 1=D", "requeue"},
    {"one that fails again takes its disk along", "P", "P", "attaching", 1, "hopeless",
     "failed 4: 1=d", "detach"},
    {"but for one that may be in use", "P", "P", "new", -1, "hopeless", "failed 4: 1=d", "repair"},
    {"also when that has failed", "P", "P", "attaching", -1, "hopeless", "failed 4: 1=d", "repair"},
    {"and when the disk has gone it is tried anew", "P", "P", "attaching", 1, "hopeless",
     "failed 4: 0=x", "attach 1"},
    {"what has failed is something else: the machine has the disk", "P", "P", "attaching", 1, "",
     "failed 4: 1=a", "record-attached 1"},
    {"whatever came of carrying it out again", "P", "P", "attaching", 1, "hopeless",
     "failed 4: 1=a", "record-attached 1"},
    {"but for one that was to leave", "P", "", "new", -1, "", "failed 4: 1=A", "repair"},
    {"as long as it is changing, that may change", "P", "P", "attaching", 1, "", "changing 4: 1=a",
     "requeue"},
    {"it has come after all", "P", "P", "attaching", 1, "hopeless", "ok 4: 1=d",
     "record-attached 1"},
    {"it never does where it failed, unless it is carried out again", "P", "", "new", -1, "",
     "failed 4: 1=D", "repair"},
    {"nor where it was forgotten", "P", "", "new", -1, "", "ok 4: 1=D", "repair"},
    {"no VM", "P", "", "new", -1, "", "-", "no-vm"},
    {"no place by what may be an old model", "P", "", "new", -1, "", "ok 2: 0=x 1=x", "refresh-vm"},
    {"no place", "P", "", "new", -1, "anew", "ok 2: 0=x 1=x", "no-slot"},
    {"a place that is only on record is no place either", "P", "", "new", -1, "taken=5 anew",
     "ok 2: 0=x", "no-slot"},
    {"what the model has at another LUN than the record takes one place, not two", "R", "", "new",
     -1, "primary-attached replica=5", "ok 3: 0=x 1=y", "record-attaching 2"},
    {"a LUN that had another disk a moment ago is left alone", "P", "", "new", -1, "",
     "ok 4 rest=0:", "record-attaching 1"},
    {"unless there is no other", "P", "", "new", -1, "all-but-7",
     "ok 64 rest=7:", "record-attaching 7"},

    {"a replica gives way to a primary", "P", "", "new", -1, "replica=1 anew", "ok 2: 0=x 1=y",
     "make-room"},
    {"but not by what may be an old model", "P", "", "new", -1, "replica=1", "ok 2: 0=x 1=y",
     "refresh-vm"},
    {"one whose disk is not attached yet, too", "P", "", "new", -1, "replica=1 anew", "ok 2: 0=x",
     "make-room"},
    {"only one, however often the attach fails: its place is on record", "P", "P", "attaching", 2,
     "replica=1", "ok 3: 0=x 1=y", "attach 2"},
    {"one without a place cannot", "P", "", "new", -1, "replica=-1 anew", "ok 2: 0=x 1=x",
     "no-slot"},
    {"nor one that leaves already: its place is as good as free", "P", "", "new", -1, "leaving=1",
     "ok 2: 0=x 1=y", "record-attaching 2"},
    {"but only for one", "P", "", "new", -1, "leaving=1 taken=2 anew", "ok 2: 0=x 1=y", "no-slot"},
    {"whether its disk is there still or not", "P", "", "new", -1, "leaving=1", "ok 2: 0=x",
     "record-attaching 2"},
    {"the two go in one change", "P", "P", "attaching", 2, "leaving=1", "ok 2: 0=x 1=y",
     "attach 2 in exchange"},
    {"if there is no room otherwise", "P", "P", "attaching", 2, "leaving=1", "ok 3: 0=x 1=y",
     "attach 2"},
    {"not one that keeps a fence, whether it leaves or not", "P", "", "new", -1, "fence=1 anew",
     "ok 2: 0=x 1=y", "no-slot"},
    {"nor for who has a LUN", "P", "P", "attaching", 2, "fence=1 anew", "ok 2: 0=x 1=y", "no-slot"},
    {"a number for the LUN may have to wait", "P", "", "new", -1, "all-but-7 leaving=7",
     "ok 64: 7=y", "requeue"},
    {"a VM that is full by a guess is asked to take a primary", "P", "", "new", -1, "",
     "guess 2: 0=x 1=x", "record-attaching 2"},
    {"in one change with what leaves, if anything does", "P", "P", "attaching", 2, "leaving=1",
     "guess 2: 0=x 1=y", "attach 2 in exchange"},
    {"no replica gives way because of a guess", "P", "", "new", -1, "replica=1", "guess 2: 0=x 1=y",
     "record-attaching 2"},
    {"nor because nothing is known", "P", "", "new", -1, "replica=1", "unknown 64: 0=x 1=y",
     "record-attaching 2"},
    {"but there are no more LUNs than there are", "P", "", "new", -1, "all-but-7 anew",
     "guess 2: 7=x", "no-slot"},
    {"a replica goes by the guess", "R", "", "new", -1, "primary-attached", "guess 2: 0=x 1=x",
     "reschedule"},

    {"no replica gives way to a replica", "R", "", "new", -1, "primary-attached replica=1",
     "ok 2: 0=x 1=y", "reschedule"},
    {"nor takes what a primary waits for", "R", "", "new", -1, "primary-attached waiting",
     "ok 2: 0=x", "reschedule"},
    {"nor the place of one that leaves", "R", "", "new", -1, "primary-attached leaving=1",
     "ok 2: 0=x 1=y", "reschedule"},
    {"nor keeps its own before it is attached", "R", "R", "attaching", 1,
     "primary-attached waiting", "ok 2: 0=x", "reschedule"},
    {"unless the model has the primary's disk already", "R", "", "new", -1,
     "primary-attached waiting", "ok 2: 1=y", "record-attaching 0"},
    {"without a place it stays where Kubernetes has the volume: it would be written again", "R", "",
     "new", -1, "primary-attached published", "ok 2: 0=x 1=y", "requeue"},
    {"when a place is left it has it", "R", "", "new", -1, "primary-attached waiting", "ok 3: 0=x",
     "record-attaching 1"},

    {"a replica takes no place that is reserved for disks of others", "R", "", "new", -1,
     "primary-attached reserved=1 replica=0", "ok 2: 0=y", "reschedule"},
    {"one that such a disk has taken is reserved no more", "R", "", "new", -1,
     "primary-attached reserved=1", "ok 2: 0=x", "record-attaching 1"},
    {"nor are more than there are", "R", "", "new", -1, "primary-attached reserved=1",
     "ok 3: 0=x 1=x", "record-attaching 2"},
    {"the other of two still is", "R", "", "new", -1, "primary-attached reserved=2", "ok 2: 0=x",
     "reschedule"},
    {"a replica gives way before a primary takes a reserved place", "P", "", "new", -1,
     "reserved=1 replica=0 anew", "ok 2: 0=y", "make-room"},
    {"whose place is the primary's then", "P", "", "new", -1, "reserved=1 leaving=0", "ok 2: 0=y",
     "record-attaching 1"},
    {"a primary that is here takes a reserved place before it is refused", "P", "", "new", -1,
     "reserved=2", "ok 2:", "record-attaching 0"},
    {"but none that is taken", "P", "", "new", -1, "reserved=1 anew", "ok 2: 0=x 1=x", "no-slot"},

    {"without its disk it waits", "P", "", "new", -1, "no-volume", NULL, "none"},
    {"on a node that is gone it waits to be deleted", "P", "", "new", -1, "no-node", NULL, "none"},

    {"a replica waits for the primary", "R", "", "new", -1, "", NULL, "none"},
    {"and for a primary that came later", "R", "", "new", -1, "primary-attached primary-waits",
     NULL, "none"},
    {"and comes after it", "R", "", "new", -1, "primary-attached", NULL, "read-vm"},
    {"nobody goes beyond the disk's shares", "P", "", "new", -1, "shares=3", NULL, "none"},
    {"the last share can be had", "P", "", "new", -1, "shares=2", NULL, "read-vm"},

    {"promotion needs no read of the cloud", "P", "R", "attached", 1, "", NULL, "record-role"},
    {"promotion waits for the former primary to be demoted", "P", "R", "attached", 1, "role-taken",
     NULL, "none"},
    {"so does a primary that is not attached yet", "P", "", "new", -1, "role-taken", NULL, "none"},
    {"demotion waits for nobody", "R", "P", "attached", 1, "role-taken primary-waits shares=3",
     NULL, "record-role"},
    {"nor for its own attach", "R", "P", "attaching", 1, "", NULL, "record-role"},
    {"nor with a LUN", "R", "P", "new", -1, "", NULL, "record-role"},
    {"the size to which the disk has grown goes on record", "P", "P", "attached", 1,
     "size-differs verified", NULL, "record-size"},
    {"after the role, for which somebody waits", "P", "R", "attached", 1, "size-differs", NULL,
     "record-role"},
    {"what is as it should be stays", "P", "P", "attached", 1, "verified", NULL, "none"},
    {"a new leader reads once whether the cloud agrees", "P", "P", "attached", 1, "", NULL,
     "read-vm"},
    {"it does", "P", "P", "attached", 1, "", "ok 4: 1=d", "verified"},
    {"it does in another boot of the node: that goes on record", "P", "P", "attached", 1,
     "former-boot", "ok 4: 1=d", "record-vm"},
    {"after a boot it is read again, however sure it was before", "P", "P", "attached", 1,
     "former-boot verified", NULL, "read-vm"},
    {"nothing of a boot goes on record by a VM that is gone", "P", "P", "attached", 1,
     "former-boot", "-", "record-lost"},
    {"a promotion waits for no look", "P", "R", "attached", 1, "former-boot", NULL, "record-role"},
    {"it does not: gone", "P", "P", "attached", 1, "", "ok 4:", "record-lost"},
    {"it does not: elsewhere", "P", "P", "attached", 1, "", "ok 4: 2=d", "record-lost"},
    {"it does not: leaving", "R", "R", "attached", 1, "", "ok 4: 1=D", "record-lost"},
    {"it does not: no VM", "R", "R", "attached", 1, "", "-", "record-lost"},

    {"a LUN that the model gives to it is taken off a neighbour's record first", "R", "", "new", -1,
     "primary-attached replica=2", "ok 4: 2=d", "record-displaced"},
    {"whatever the neighbour is about to do", "R", "", "new", -1, "primary-attached leaving=2",
     "ok 4: 2=d", "record-displaced"},
    {"whosever disk is there, so that nobody is sent to it", "P", "P", "attached", 1, "replica=2",
     "ok 4: 1=d 2=x", "record-displaced"},
    {"even if it is still on its way", "P", "P", "attaching", 1, "replica=2", "changing 4: 2=x",
     "record-displaced"},
    {"and by one that leaves itself", "R", "R", "detaching", 1, "deleting replica=2",
     "ok 4: 1=d 2=x", "record-displaced"},
    {"not where the neighbour's own disk is", "P", "P", "attached", 1, "replica=2", "ok 4: 1=d 2=y",
     "verified"},
    {"nor where there is none yet", "P", "P", "attached", 1, "replica=2", "ok 4: 1=d", "verified"},
    {"nor one that has no LUN on record any more", "R", "", "new", -1,
     "primary-attached replica=-1", "ok 4: 2=d", "record-attached 2"},

    {"a replica is detached when it is deleted", "R", "R", "attached", 1, "deleting", NULL,
     "read-vm"},
    {"first that goes on record", "R", "R", "attached", 1, "deleting", "ok 4: 1=d",
     "record-detaching"},
    {"then it is done", "R", "R", "detaching", 1, "deleting", "ok 4: 1=d", "detach"},
    {"again, if it is still leaving", "R", "R", "detaching", 1, "deleting", "ok 4: 1=D", "detach"},
    {"on a full VM that waits for the primary that takes its place", "R", "R", "detaching", 1,
     "deleting arrives", "ok 2: 0=x 1=d", "requeue"},
    {"which takes it along", "R", "R", "detaching", 1, "deleting arrives anew", "ok 2: 0=x 2=x",
     "remove-finalizer"},
    {"a replica leaves after the node that was given up", "R", "R", "detaching", 1,
     "deleting keeps-fence", "ok 3: 0=x 1=d", "requeue"},
    {"and not where there is room", "R", "R", "detaching", 1, "deleting arrives", "ok 3: 0=x 1=d",
     "detach"},
    {"nor while a primary waits for its share", "R", "R", "detaching", 1,
     "deleting arrives primary-waits", "ok 2: 0=x 1=d", "detach"},
    {"nor while somebody waits for the unpublish", "P", "P", "detaching", 1,
     "deleting arrives requested", "ok 2: 0=x 1=d", "detach"},
    {"nor for longer than half a minute: that primary may never come", "R", "R", "detaching", 1,
     "deleting arrives age=30000", "ok 2: 0=x 1=d", "detach"},
    {"which is not over yet", "R", "R", "detaching", 1, "deleting arrives age=29999",
     "ok 2: 0=x 1=d", "requeue"},
    {"by a clock that is a little late, too", "R", "R", "detaching", 1,
     "deleting arrives age=-2000", "ok 2: 0=x 1=d", "requeue"},
    {"but not by one that is wrong", "R", "R", "detaching", 1, "deleting arrives age=-30000",
     "ok 2: 0=x 1=d", "detach"},
    {"nor while the deletion of its own volume waits for it", "R", "R", "detaching", 1,
     "deleting arrives volume-goes", "ok 2: 0=x 1=d", "detach"},
    {"when the model lacks it, it may be one from before", "R", "R", "detaching", 1, "deleting",
     "ok 4: 0=x", "refresh-vm"},
    {"if that lacks it too, it is over", "R", "R", "detaching", 1, "deleting anew", "ok 4: 0=x",
     "remove-finalizer"},
    {"and when there is no VM", "R", "R", "detaching", 1, "deleting", "-", "remove-finalizer"},
    {"of a primary that is published the record goes, and the disk stays", "P", "P", "attached", 1,
     "deleting", NULL, "remove-finalizer"},
    {"once it is unpublished it is", "P", "P", "attached", 1, "deleting requested", NULL,
     "read-vm"},
    {"without its Node the record stays too, to say where the disk is", "P", "P", "attached", 1,
     "deleting no-node", NULL, "none"},
    {"until it is unpublished", "P", "P", "attached", 1, "deleting requested no-node", NULL,
     "read-vm"},
    {"or it was unpublished by demoting it, of which the next primary knows first", "R", "P",
     "attached", 1, "deleting", NULL, "record-role"},
    {"also if it is on its way", "R", "P", "detaching", 1, "deleting", "ok 4: 1=d", "record-role"},
    {"and before anybody has deleted it", "R", "P", "attached", 1, "no-node", NULL, "record-role"},
    {"of a volume that goes there is none", "R", "P", "attached", 1, "deleting no-volume", NULL,
     "read-vm"},
    {"a VM that is a guess, and that the cloud does not know, proves nothing", "R", "R",
     "detaching", 1, "deleting vm-guessed", "-", "ask-disk"},
    {"nor does one that had no such disk a while ago", "R", "R", "detaching", 1,
     "deleting vm-guessed", "ok 4:", "refresh-vm"},
    {"nor one that has none now", "R", "R", "detaching", 1, "deleting vm-guessed anew",
     "ok 4:", "ask-disk"},
    {"one that has it is right", "R", "R", "detaching", 1, "deleting vm-guessed", "ok 4: 1=d",
     "detach"},
    {"a disk that is attached nowhere needs no detach", "R", "R", "detaching", 1,
     "deleting vm-guessed owner-none", "-", "remove-finalizer"},
    {"the disk's owner is the VM", "R", "R", "detaching", 1, "deleting vm-guessed owner-found", "-",
     "record-vm"},
    {"an owner that may be the VM is told of", "R", "R", "detaching", 1,
     "deleting vm-guessed owner-unclear", "-", "unknown-vm"},
    {"what is attached stays so on record when a guessed VM is not found", "P", "P", "attached", 1,
     "vm-guessed", "-", "none"},
    {"what was recorded without its VM is recorded anew", "P", "P", "attached", 1, "vm-unrecorded",
     "ok 4: 1=d", "record-vm"},
    {"the Node is another VM: the former one is read", "P", "P", "attached", 1, "vm-moved", NULL,
     "read-vm"},
    {"the disk is detached there", "P", "P", "attached", 1, "vm-moved", "ok 4: 1=d", "detach"},
    {"after the node that was given up", "P", "P", "attached", 1, "vm-moved keeps-fence",
     "ok 4: 1=d", "requeue"},
    {"by a model that nobody has changed since", "P", "P", "attached", 1, "vm-moved",
     "ok 4:", "refresh-vm"},
    {"and attached here", "P", "P", "attached", 1, "vm-moved anew", "ok 4:", "forget-vm"},
    {"at once when the former VM is gone", "R", "R", "attached", 1, "primary-attached vm-moved",
     "-", "forget-vm"},
    {"somebody else's finalizer is not ours", "R", "R", "attached", 1, "deleting bare", NULL,
     "none"},
};

static enum attachment_role role_from(const char *text)
{
    return text[0] == 'P' ? ROLE_IS_PRIMARY : text[0] == 'R' ? ROLE_IS_REPLICA : ROLE_NONE;
}

static enum attachment_state state_from(const char *text)
{
    static const char *const names[] = {"new", "attaching", "attached", "detaching"};

    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], text) == 0)
            return (enum attachment_state)i;
    fail_msg("no such state: %s", text);
    return ATTACHMENT_NEW;
}

static struct neighbour *add_neighbour(struct attachment_snapshot *in, struct neighbour *neighbours,
                                       const char *lun, bool leaving)
{
    struct neighbour *neighbour = &neighbours[in->n_neighbours++];

    *neighbour = (struct neighbour){.name = "n",
                                    .disk_id = "/neighbour",
                                    .lun = (int)strtol(lun, NULL, 10),
                                    .leaving = leaving,
                                    .since = ""};
    if (neighbour->lun >= 0)
        in->luns_taken[neighbour->lun] = true;
    in->neighbours = neighbours;
    return neighbour;
}

static void apply_flags(const char *flags, struct attachment_snapshot *in,
                        struct neighbour *neighbours)
{
    const char *value;

    in->deleting = strstr(flags, "deleting");
    in->has_finalizer = !strstr(flags, "bare");
    in->detach_requested = strstr(flags, "requested");
    in->node_exists = !strstr(flags, "no-node");
    in->volume_ready = !strstr(flags, "no-volume");
    in->verified = strstr(flags, "verified");
    in->failed_attach = strstr(flags, "hopeless");
    in->since_boot = !strstr(flags, "former-boot");
    in->size_differs = strstr(flags, "size-differs");
    in->primary_attached = strstr(flags, "primary-attached");
    in->primary_waits = strstr(flags, "primary-waits");
    in->role_taken = strstr(flags, "role-taken");
    in->keeps_fence = strstr(flags, "keeps-fence");
    in->published = strstr(flags, "published");
    in->vm_recorded = !strstr(flags, "vm-unrecorded") && !strstr(flags, "vm-guessed");
    in->vm_guessed = strstr(flags, "vm-guessed");
    in->vm_moved = strstr(flags, "vm-moved");
    in->owner = strstr(flags, "owner-none")      ? DISK_OWNER_NONE
                : strstr(flags, "owner-found")   ? DISK_OWNER_FOUND
                : strstr(flags, "owner-unclear") ? DISK_OWNER_UNCLEAR
                                                 : DISK_OWNER_UNASKED;
    in->primary_arrives = strstr(flags, "arrives");
    in->volume_goes = strstr(flags, "volume-goes");
    if ((value = strstr(flags, "age=")))
        in->deleting_for_ms = strtoll(value + strlen("age="), NULL, 10);
    in->vm_refreshed = strstr(flags, "anew");
    if ((value = strstr(flags, "shares=")))
        in->other_shares = (unsigned)strtoul(value + strlen("shares="), NULL, 10);
    if ((value = strstr(flags, "taken=")))
        in->luns_taken[strtoul(value + strlen("taken="), NULL, 10)] = true;
    if ((value = strstr(flags, "all-but-")))
        for (int lun = 0; lun < MAX_LUNS; lun++)
            in->luns_taken[lun] = lun != strtol(value + strlen("all-but-"), NULL, 10);
    if ((value = strstr(flags, "reserved=")))
        in->reserved_slots = (int)strtol(value + strlen("reserved="), NULL, 10);
    if (strstr(flags, "waiting"))
        add_neighbour(in, neighbours, "-1", false)->waits = true;
    if ((value = strstr(flags, "replica=")))
        add_neighbour(in, neighbours, value + strlen("replica="), false);
    if ((value = strstr(flags, "fence=")))
        add_neighbour(in, neighbours, value + strlen("fence="), false)->keeps_fence = true;
    if ((value = strstr(flags, "leaving=")))
        add_neighbour(in, neighbours, value + strlen("leaving="), true);
}

static void add_slots(const char *text, struct cloud_instance *instance)
{
    struct cloud_slot slots[8];
    size_t n = 0;
    int lun, length;
    char disk;

    for (; sscanf(text, " %d=%c%n", &lun, &disk, &length) == 2; text += length) {
        assert_true(n < COUNT_OF(slots));
        slots[n++] = (struct cloud_slot){.disk_id = disk == 'x'   ? "/other"
                                                    : disk == 'y' ? "/neighbour"
                                                                  : DISK,
                                         .lun = lun,
                                         .leaving = disk == 'D' || disk == 'A',
                                         .attached = disk == 'a' || disk == 'A'};
    }
    instance->slots = slots;
    instance->n_slots = n;
    *instance = cloud_instance_copy(instance);
}

static void apply_cloud(const char *cloud, struct attachment_snapshot *in,
                        struct cloud_instance *instance)
{
    char state[16];
    int length, rest, more;

    in->vm_read = cloud != NULL;
    if (!cloud || strcmp(cloud, "-") == 0)
        return;
    assert_int_equal(sscanf(cloud, "%15s %d%n", state, &instance->max_disks, &length), 2);
    if (sscanf(cloud + length, " rest=%d%n", &rest, &more) == 1) {
        instance->cooling_luns = UINT64_C(1) << rest;
        length += more;
    }
    instance->state = strcmp(state, "changing") == 0 ? CLOUD_INSTANCE_CHANGING
                      : strcmp(state, "failed") == 0 ? CLOUD_INSTANCE_FAILED
                                                     : CLOUD_INSTANCE_SETTLED;
    instance->max_disks_from = strcmp(state, "guess") == 0     ? CLOUD_BUILT_IN
                               : strcmp(state, "unknown") == 0 ? CLOUD_UNKNOWN
                                                               : CLOUD_TOLD;
    add_slots(cloud + length + 1, instance);
    in->instance = instance;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        CLEANUP(cloud_instance_fini) struct cloud_instance instance = {0};
        struct attachment_snapshot in = {
            .wanted = role_from(row->wanted),
            .role = role_from(row->role),
            .state = state_from(row->state),
            .lun = row->lun,
            .max_shares = 3,
            .disk_id = DISK,
        };
        struct neighbour neighbours[2];
        char text[64];

        apply_flags(row->flags, &in, neighbours);
        apply_cloud(row->cloud, &in, &instance);
        struct attachment_plan plan = attachment_next(&in);
        if (plan.lun == NO_LUN)
            snprintf(text, sizeof text, "%s", step_names[plan.step]);
        else
            snprintf(text, sizeof text, "%s %d%s", step_names[plan.step], plan.lun,
                     plan.swaps_out ? " in exchange" : "");
        if (strcmp(text, row->step) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", row->why, row->step, text);
    }
}

/* ---- a small cloud in which the steps are taken, with accidents ---- */

struct world {
    struct attachment_snapshot in;
    struct cloud_instance vm;
    struct cloud_slot slots[2];
    bool gone;
};

static void read_vm(struct world *w, bool anew)
{
    w->in.vm_read = true;
    w->in.vm_refreshed = anew;
    w->in.instance = w->in.vm_guessed ? NULL : &w->vm; /* the guess is wrong */
}

static void take(struct world *w, struct attachment_plan plan, unsigned *r)
{
    switch (plan.step) {
    case STEP_ASK_DISK:
        w->in.owner = w->vm.n_slots ? DISK_OWNER_FOUND : DISK_OWNER_NONE;
        return;
    case STEP_RECORD_VM:
        w->in.vm_recorded = w->in.since_boot = true;
        w->in.vm_guessed = false;
        return;
    case STEP_ADD_FINALIZER:
        w->in.has_finalizer = true;
        return;
    case STEP_REMOVE_FINALIZER:
        assert_int_equal(w->vm.n_slots, 0);
        w->gone = true;
        return;
    case STEP_RECORD_ATTACHING:
        w->in.state = ATTACHMENT_ATTACHING;
        w->in.role = w->in.wanted;
        w->in.lun = plan.lun;
        w->in.vm_recorded = true;
        return;
    case STEP_ATTACH:
        assert_int_equal(w->in.lun, plan.lun);
        w->slots[0] = (struct cloud_slot){.disk_id = (char *)(uintptr_t)DISK, .lun = plan.lun};
        w->vm.n_slots = 1;
        w->vm.state = rand_r(r) % 3 ? CLOUD_INSTANCE_SETTLED : CLOUD_INSTANCE_FAILED;
        return;
    case STEP_REPAIR:
        w->vm.state = CLOUD_INSTANCE_SETTLED;
        return;
    case STEP_RECORD_ATTACHED:
        assert_int_equal(w->vm.state, CLOUD_INSTANCE_SETTLED);
        w->in.state = ATTACHMENT_ATTACHED;
        w->in.role = w->in.wanted;
        w->in.lun = plan.lun;
        w->in.since_boot = true;
        return;
    case STEP_RECORD_ROLE:
        w->in.role = w->in.wanted;
        return;
    case STEP_RECORD_LOST:
        w->in.state = ATTACHMENT_NEW;
        w->in.lun = NO_LUN;
        return;
    case STEP_VERIFIED:
        w->in.verified = true;
        return;
    case STEP_RECORD_DETACHING:
        w->in.state = ATTACHMENT_DETACHING;
        return;
    case STEP_DETACH:
        w->vm.n_slots = 0;
        w->vm.state = CLOUD_INSTANCE_SETTLED;
        return;
    default:
        return;
    }
}

static void look_or_take(struct world *w, struct attachment_plan plan, unsigned *r)
{
    bool lost = rand_r(r) % 4 == 0; /* the step had no effect */

    if (plan.step == STEP_READ_VM || plan.step == STEP_REFRESH_VM) {
        read_vm(w, plan.step == STEP_REFRESH_VM);
        return;
    }
    if (plan.step != STEP_ASK_DISK)
        w->in.vm_read = false;
    if (!lost)
        take(w, plan, r);
}

/* However many steps are lost, an attachment ends attached, in its role, and later gone, even if
 * nobody knows any more which VM it is on. */
static void test_settles_whatever_is_lost(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 5000; seed++) {
        struct world w = {.in = {.wanted = ROLE_IS_PRIMARY,
                                 .lun = NO_LUN,
                                 .node_exists = true,
                                 .volume_ready = true,
                                 .max_shares = 1,
                                 .disk_id = DISK},
                          .vm = {.max_disks = 4}};
        unsigned r = seed, steps;

        w.vm.slots = w.slots;
        for (steps = 0; !w.in.verified; steps++) {
            assert_in_range(steps, 0, 200);
            look_or_take(&w, attachment_next(&w.in), &r);
        }
        assert_int_equal(w.in.state, ATTACHMENT_ATTACHED);
        assert_int_equal(w.in.lun, w.slots[0].lun);
        assert_int_equal(attachment_next(&w.in).step, STEP_NONE);

        w.in.deleting = true;
        assert_int_equal(attachment_next(&w.in).step, STEP_REMOVE_FINALIZER);
        w.in.detach_requested = true;
        if (seed % 2) {
            w.in.node_exists = w.in.vm_recorded = w.in.verified = false;
            w.in.vm_guessed = true;
        }
        for (steps = 0; !w.gone; steps++) {
            assert_in_range(steps, 0, 200);
            look_or_take(&w, attachment_next(&w.in), &r);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_settles_whatever_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
