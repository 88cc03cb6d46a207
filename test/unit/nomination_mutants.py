"""The mutants of how the leader picks a node for a pod that waits at the gate."""

from .mutant import Mutant

PICK = "controller/placement/pick.c"
GATHER = "controller/placement/snapshot.c"
RESERVED = "controller/placement/reservations.c"

NOMINATION_MUTANTS = [
    # ---- the pick ----
    Mutant("a node that is ill is proposed", PICK, "if (score == 0)", "if (score > SCORE_MOST)"),
    Mutant("a node that the scheduler refuses is proposed", PICK, "if (node->refusal)",
           "if (node->refusal > N_UNSCHEDULABLE_REASONS)"),
    Mutant("a full node is proposed", PICK, "node->joining > node->places", "node->joining > 64"),
    Mutant("any node with a disk will do", PICK, "return score_a > score_b ? 1 : -1;", "return 0;"),
    Mutant("what the pod prefers is not asked", PICK, "return a->preference > b->preference ? 1 : -1;",
           "return a->preference < b->preference ? 1 : -1;"),
    Mutant("pods move without need", PICK, "return a->joining < b->joining ? 1 : -1;",
           "return a->joining > b->joining ? 1 : -1;"),
    Mutant("the order of the nodes decides", PICK, "return strcmp(b->name, a->name);", "return 0;"),
    # ---- what it is asked ----
    Mutant("all pods go to one node of a volume of many", GATHER,
           "object && !volume_is_multi_node(as_volume(object)) && !has_volume", "object && !has_volume",
           "snapshot"),
    Mutant("a disk that is named twice counts twice", GATHER, "&& !has_volume(work, name))",
           "&& (!has_volume(work, name) || true))", "snapshot"),
    Mutant("a node that a disk is leaving may be proposed", GATHER, "if (name && presence != PRESENCE_NONE)",
           "if (name)", "snapshot"),
    Mutant("a node whose plug-in is silent is proposed", GATHER,
           "row && row->node && node_info_is_ready(controller->node_infos, row);", "row && row->node;",
           "snapshot"),
    Mutant("what would not have a place is asked for", GATHER,
           "node->disks.asked_for = asked_for && strcmp(asked_for, node->name) == 0;", "", "snapshot"),
    Mutant("replicas take places from primaries", GATHER, "row->primaries + reservations_count(",
           "row->attachments + reservations_count(", "snapshot"),
    Mutant("two pods get the last place of a node", GATHER,
           "row->primaries + reservations_count(controller, row->name, work->volumes, work->n_volumes);",
           "row->primaries;\n    (void)work, (void)controller, (void)reservations_count;", "snapshot"),
    # ---- reserved places ----
    Mutant("a place is reserved for ever", RESERVED, "return reservation->ends > loop_now(controller->loop) && pod",
           "return pod", "snapshot"),
    Mutant("a place is reserved for a pod that is gone", RESERVED, "&& pod && pod_is_live(pod) &&", "&&", "snapshot"),
    Mutant("a place is reserved for a pod that is elsewhere", RESERVED,
           "(!node || strcmp(node, reservation->node) == 0)", "(node || reservation->node)", "snapshot"),
    Mutant("a primary takes two places", RESERVED,
           "                 !is_primary(controller, reservation->volumes[i], node);",
           "                 (!is_primary(controller, reservation->volumes[i], node) || true);", "snapshot"),
    Mutant("a pod keeps the places of its former proposal", RESERVED,
           "    reservations_end(controller, pod);\n    drop_old", "    drop_old", "snapshot"),
    Mutant("reservations have no bound", RESERVED, "&& reservations->n < MOST_RESERVATIONS)", ")", "snapshot"),
    Mutant("a policy that keeps the gate is told to nobody", "controller/placement/reconcile.c",
           "same && json_equal(same, patch) ? ERR_DENIED", "same && !patch ? ERR_DENIED"),
    Mutant("a place is reserved for a pod that others hold back", "controller/placement/reconcile.c",
           "return pod->spec->n_scheduling_gates > 1;", "return pod->spec->n_scheduling_gates > 100;"),
    Mutant("a gate that somebody has removed is a policy's", "controller/placement/reconcile.c",
           "same && json_equal(same, patch) ? ERR_DENIED", "same && patch ? ERR_DENIED"),
]
