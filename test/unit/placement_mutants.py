"""The mutants of what holds a pod back until a node is proposed for it."""

from .mutant import Mutant

GATE = "provisioner-lib/records/placement_gate.c"
REFLECTOR = "lib/kube/reflector.c"

PLACEMENT_MUTANTS = [
    Mutant("the first gate of a pod goes, whoever added it", GATE,
           "same_text(pod->spec->scheduling_gates[i]->name, PLACEMENT_GATE)", "true"),
    Mutant("the gate goes from whatever pod has the name", GATE,
           '"/metadata/uid", "value", pod->metadata->uid', '"/kind", "value", "Pod"'),
    Mutant("a restart begins a pod's wait anew", GATE,
           "if (made_us && made_us + US_IN_S < seen_us)", "if (!seen_us)"),
    Mutant("a gate without a time is overdue at once", GATE,
           "if (made_us && made_us + US_IN_S < seen_us)", "if (made_us + US_IN_S < seen_us)"),
    Mutant("an object that is no longer wanted stays", REFLECTOR,
           'if (strcmp(type, "DELETED") == 0 || reading == READ_UNWANTED)',
           'if (strcmp(type, "DELETED") == 0)', "reflector_kept"),
    Mutant("what is not wanted is listed", REFLECTOR,
           "if (object && reading != READ_UNWANTED)", "if (object)", "reflector_kept"),
]
