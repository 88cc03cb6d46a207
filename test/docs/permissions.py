"""What the accounts of the chart may do, and why: each rule of each role."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from chart.chart import FAILOVER, SCHEDULER, SNAPSHOTS, VOLUME_SNAPSHOTS, of_kind, render

from .markdown import code, codes

NOMINATE = {"placement.mode": "nominate", "placement.schedulerNames": ["default-scheduler", "csi-azuredisk-scheduler-extender"]}
EVERYTHING = FAILOVER | SNAPSHOTS | SCHEDULER | NOMINATE
OPTIONS = {  # what adds to the roles: values, and what the cluster has
    "snapshots": ({}, VOLUME_SNAPSHOTS),
    "failover.enabled": (FAILOVER, ()),
    "placement.mode: webhook": ({"placement.mode": "webhook"}, ()),
    "placement.mode: nominate": ({"placement.mode": "nominate"}, ()),
    "schedulerExtender.scheduler.enabled": (SCHEDULER, ()),
    "snapshot.enabled": (SNAPSHOTS, ()),
}

# By role, and what it says: the resources, and after a colon the names of the only objects; the verbs.
REASONS: dict[str, dict[tuple[str, str], str]] = {
    "azuredisk-controller": {
        ("nodes", "get list watch"): "which VM a Node is, its zone, whether it is ready, and what it has mounted before another node gets the disk",
        ("persistentvolumes", "get list watch"): "volumes that the driver did not provision, and records that were lost",
        ("pods", "list watch"): "replicas are placed where the pods of a volume could run",
        ("namespaces", "list watch"): "the UID of kube-system, which is in the tags of disks; labels that affinities of pods name",
        ("volumeattachments.storage.k8s.io", "get list watch"): "which node Kubernetes wants a volume on",
        ("events.events.k8s.io", "create patch"): "what happened to a volume, and that it happened again",
        ("volumesnapshotcontents.snapshot.storage.k8s.io", "list"): "the audit compares AzSnapshots with them",
    },
    "azuredisk-controller-objects": {
        ("azvolumes.disk.csi.azure.com azvolumeattachments.disk.csi.azure.com azsnapshots.disk.csi.azure.com",
         "get list watch create patch delete"): "the driver's own records",
        ("azdrivernodes.disk.csi.azure.com", "get list watch delete"): "heartbeats; the record of a Node that is gone is deleted",
        ("azvolumes.disk.csi.azure.com/status azvolumeattachments.disk.csi.azure.com/status azsnapshots.disk.csi.azure.com/status "
         "azdrivernodes.disk.csi.azure.com/status", "patch"): "states, roles, LUNs; how many disks a VM supports",
    },
    "azuredisk-controller-lease": {
        ("leases.coordination.k8s.io", "create"): "the Leases of the controller and its sidecars; RBAC cannot restrict `create` by name",
        ("leases.coordination.k8s.io: csi-azuredisk-controller", "get patch"): "one controller leads",
    },
    "azuredisk-controller-node-leases": {
        ("leases.coordination.k8s.io", "list"): "whether nodes are silent",
    },
    "azuredisk-controller-kubelet-leases": {
        ("leases.coordination.k8s.io", "get"): "whether the node's kubelet is silent, too",
    },
    "azuredisk-controller-failover": {
        ("nodes", "patch create delete"): "the taints of a silent node; the Node that stands in for a deleted one",
        ("nodes/status", "patch"): "a volume that is fenced off is not in use any more",
        ("pods", "get delete"): "pods of a silent node, and the extender's on it",
    },
    "azuredisk-controller-placement": {
        ("pods", "get patch"): "takes the driver's scheduling gate away",
        ("pods/status", "patch"): "proposes a node (`nominatedNodeName`)",
        ("persistentvolumeclaims", "get"): "a switchover that somebody has asked for is noted on a claim",
    },
    "azuredisk-controller-certificate": {
        ("secrets", "create"): "the webhook's certificate; RBAC cannot restrict `create` by name",
        ("secrets: csi-azuredisk-scheduler-extender-placement", "get patch"): "its rotation",
    },
    "azuredisk-controller-webhook": {
        ("mutatingwebhookconfigurations.admissionregistration.k8s.io: azuredisk-placement", "get patch"):
            "the authority of that certificate (`caBundle`)",
    },
    "azuredisk-controller-cloud-config": {
        ("secrets: azure-cloud-provider", "get"): "the identity in Azure",
    },
    "azuredisk-external-provisioner-role": {
        ("persistentvolumes", "list watch create patch delete"): "makes and deletes PersistentVolumes",
        ("persistentvolumeclaims", "list watch update"): "which volumes are asked for; takes the node off a claim that cannot be served there",
        ("storageclasses.storage.k8s.io csinodes.storage.k8s.io volumeattachments.storage.k8s.io", "list watch"):
            "parameters, topology, and that a volume is not in use when it is deleted",
        ("volumeattributesclasses.storage.k8s.io", "get"): "parameters of a claim",
        ("events", "create patch"): "what became of a claim",
        ("volumesnapshots.snapshot.storage.k8s.io", "get list watch update"): "a finalizer keeps a snapshot while a volume is made from it",
        ("volumesnapshotcontents.snapshot.storage.k8s.io", "get"): "which snapshot in Azure it is",
    },
    "azuredisk-external-attacher-role": {
        ("volumeattachments.storage.k8s.io", "patch"): "its finalizer",
        ("volumeattachments.storage.k8s.io/status", "patch"): "attached, or why not",
    },
    "azuredisk-external-resizer-role": {
        ("persistentvolumes", "list watch patch"): "the new size",
        ("persistentvolumeclaims", "list watch"): "which size is asked for",
        ("persistentvolumeclaims/status", "patch"): "how far it is",
        ("volumeattributesclasses.storage.k8s.io", "list watch"): "which parameters are asked for",
        ("events", "create patch"): "what became of it",
    },
    "azuredisk-external-snapshotter-role": {
        ("volumesnapshotclasses.snapshot.storage.k8s.io", "list watch"): "parameters",
        ("volumesnapshotcontents.snapshot.storage.k8s.io", "get list watch patch"): "which snapshots are asked for; annotations and finalizers",
        ("volumesnapshotcontents.snapshot.storage.k8s.io/status", "update patch"): "ready, or why not",
        ("events", "create patch"): "what became of it",
    },
    "azuredisk-sidecar-leases": {
        ("leases.coordination.k8s.io: disk-csi-azure-com external-attacher-leader-disk-csi-azure-com "
         "external-resizer-disk-csi-azure-com", "get update"): "one sidecar of each kind works",
        ("leases.coordination.k8s.io: external-snapshotter-leader-disk-csi-azure-com", "get update"): "the same",
    },
    "azuredisk-node": {
        ("nodes", "get"): "labels with its zone, where the metadata service does not answer; its startup taint",
        ("namespaces: kube-system", "list"): "the UID of kube-system, for the keys of fences",
    },
    "azuredisk-node-taint": {
        ("nodes", "patch"): "removes the startup taint of its own Node",
        ("csinodes.storage.k8s.io", "get"): "whether kubelet has registered the plug-in",
    },
    "azuredisk-node-leases": {
        ("leases.coordination.k8s.io", "create patch"): "the Lease by which the controller hears of the node",
    },
    "azuredisk-node-objects": {
        ("azvolumeattachments.disk.csi.azure.com", "get list watch"): "what is attached to the node, and as what",
        ("azvolumeattachments.disk.csi.azure.com/status", "patch"): "notes in `status.annotation`",
        ("azvolumes.disk.csi.azure.com", "get"): "what a volume's disk has to be",
        ("azdrivernodes.disk.csi.azure.com", "list watch create"): "its own record",
        ("azdrivernodes.disk.csi.azure.com/status", "patch"): "its heartbeat, and free slots",
    },
    "azuredisk-scheduler-extender": {
        ("persistentvolumes persistentvolumeclaims", "list watch"): "which disks a pod needs",
    },
    "azuredisk-scheduler-extender-objects": {
        ("azvolumeattachments.disk.csi.azure.com azdrivernodes.disk.csi.azure.com", "list watch"): "where these disks are",
    },
    "azuredisk-scheduler-extender-gates": {
        ("pods", "list watch patch"): "takes gates away that are overdue",
    },
    "azuredisk-scheduler-extender-leader": {
        ("leases.coordination.k8s.io: csi-azuredisk-controller", "list watch"): "no gate is added while nobody leads",
    },
    "csi-azuredisk-snapshot-controller-role": {
        ("persistentvolumes", "get list watch"): "which volume a snapshot is of",
        ("persistentvolumeclaims", "get list watch update"): "a finalizer keeps a claim while a snapshot is taken",
        ("volumesnapshotclasses.snapshot.storage.k8s.io", "list watch"): "driver and deletion policy",
        ("volumesnapshotcontents.snapshot.storage.k8s.io", "list watch create patch delete"): "the other half of each VolumeSnapshot",
        ("volumesnapshots.snapshot.storage.k8s.io", "get list watch update patch"): "which snapshots are asked for; finalizers",
        ("volumesnapshots.snapshot.storage.k8s.io/status", "update"): "ready, or why not",
        ("events", "create patch"): "what became of it",
    },
    "csi-azuredisk-snapshot-controller-leaderelection-role": {
        ("leases.coordination.k8s.io", "create"): "its Lease",
        ("leases.coordination.k8s.io: snapshot-controller-leader", "get update"): "one of them works",
    },
    "azuredisk-scheduler-lease": {
        ("leases.coordination.k8s.io: csi-azuredisk-scheduler-extender", "get update"): "one of them works",
    },
    "azuredisk-install-check": {
        ("nodes persistentvolumes", "list"): "which nodes are there, and volumes",
        ("volumeattachments.storage.k8s.io", "list"): "which node Kubernetes wants a volume on",
        ("deployments.apps", "list"): "the controller's says when a node plug-in is silent",
        ("volumesnapshotcontents.snapshot.storage.k8s.io", "list"): "AzSnapshots are compared with them",
    },
    "azuredisk-install-check-objects": {
        ("azvolumes.disk.csi.azure.com azvolumeattachments.disk.csi.azure.com azsnapshots.disk.csi.azure.com "
         "azdrivernodes.disk.csi.azure.com", "list"): "the records that are compared, and heartbeats",
    },
    "azuredisk-install-check-leader": {
        ("leases.coordination.k8s.io: csi-azuredisk-controller", "get"): "whether a controller leads",
    },
    "azuredisk-upgrade-check": {
        ("csidrivers.storage.k8s.io: disk.csi.azure.com", "list"): "whose it is",
        ("storageclasses.storage.k8s.io: azuredisk-standard-hdd-lrs azuredisk-standard-ssd-lrs azuredisk-standard-ssd-lrs-replicas "
         "azuredisk-premium-ssd-lrs azuredisk-premium-ssd-lrs-replicas", "list"): "parameters cannot be changed",
        ("clusterrolebindings.rbac.authorization.k8s.io: " + " ".join(f"azuredisk-{name}" for name in (
            "controller", "controller-failover", "controller-placement", "controller-webhook", "external-attacher-role",
            "external-provisioner-role", "external-resizer-role", "external-snapshotter-role", "install-check", "node", "node-taint",
            "scheduler", "scheduler-extender", "scheduler-extender-gates", "scheduler-volumes")) +
         " csi-azuredisk-snapshot-controller-role", "list"): "to which role a binding belongs cannot be changed",
        ("rolebindings.rbac.authorization.k8s.io: " + " ".join(f"azuredisk-{name}" for name in (
            "controller-certificate", "controller-cloud-config", "controller-kubelet-leases", "controller-lease",
            "controller-node-leases", "controller-objects", "install-check-leader", "install-check-objects", "node-leases",
            "node-objects", "scheduler-authentication", "scheduler-extender-leader", "scheduler-extender-objects", "scheduler-lease",
            "sidecar-leases")) +
         " csi-azuredisk-snapshot-controller-leaderelection-role", "list"): "the same",
        ("deployments.apps: csi-azuredisk-controller csi-azuredisk-scheduler csi-azuredisk-scheduler-extender "
         "csi-snapshot-controller", "list"): "which version is installed; selectors cannot be changed",
        ("daemonsets.apps: csi-azuredisk-node csi-azuredisk-node-win", "list"):
            "the same of its selector; Windows nodes have one of Microsoft's charts, which Helm would delete",
        ("customresourcedefinitions.apiextensions.k8s.io: azdrivernodes.disk.csi.azure.com azsnapshots.disk.csi.azure.com "
         "azvolumeattachments.disk.csi.azure.com azvolumes.disk.csi.azure.com volumesnapshotclasses.snapshot.storage.k8s.io "
         "volumesnapshotcontents.snapshot.storage.k8s.io volumesnapshots.snapshot.storage.k8s.io", "list"):
            "which versions are served, and stored; those of snapshots are of Microsoft's charts, and Helm would delete them",
        ("mutatingwebhookconfigurations.admissionregistration.k8s.io: azuredisk-placement", "list"): "whose it is",
        ("namespaces: azure-disk-csi", "list"): "whether it is being deleted",
        ("persistentvolumes", "list"): "which of another driver's this one could not mount",
    },
    "azuredisk-uninstall-check": {
        ("volumeattachments.storage.k8s.io", "list"): "which volumes are published",
        ("persistentvolumes", "list"): "which of them are the driver's, and whose claims they have; how many are left",
    },
}

OF_KUBERNETES = {  # by binding
    "azuredisk-scheduler": "what a scheduler of the cluster's version does: among it, binding and deleting any pod",
    "azuredisk-scheduler-volumes": "binding claims to volumes",
    "azuredisk-scheduler-authentication": "whom to believe who asks it for its metrics",
}


class Binding(NamedTuple):
    """Of one account to one role."""

    name: str
    account: str
    namespace: str  # "" is the whole cluster
    role: str
    rules: dict[tuple[str, str], str]  # reason by resources and verbs; none of a role of Kubernetes' own


def _resources(rule: dict) -> list[str]:
    """As kubectl spells them."""
    [group] = rule["apiGroups"]
    found = []
    for resource in rule["resources"]:
        plural, _, sub = resource.partition("/")
        found.append(".".join(filter(None, [plural, group])) + (f"/{sub}" if sub else ""))
    return found


def _atoms(resources: str, verbs: str) -> Iterator[tuple[str, str]]:
    """Resource, with a name if only that object may be used, and verb, one by one."""
    kinds, _, names = resources.partition(": ")
    for resource in kinds.split():
        for name in names.split() or [""]:
            yield from ((f"{resource} {name}".strip(), verb) for verb in verbs.split())


def _rendered(rules: list[dict]) -> set[tuple[str, str]]:
    return {atom for rule in rules
            for atom in _atoms(_spelled(_resources(rule), rule.get("resourceNames", [])), " ".join(rule["verbs"]))}


def _spelled(resources: list[str], names: list[str]) -> str:
    return ": ".join(filter(None, [" ".join(resources), " ".join(names)]))


def explained(role: str, rules: list[dict]) -> dict[tuple[str, str], str]:
    """The reasons for the rules of a role. One that has none, and a reason for what is not allowed, are errors."""
    reasons = REASONS.get(role, {})
    known = [atom for row in reasons for atom in _atoms(*row)]
    allowed = _rendered(rules)
    if sorted(known) != sorted(allowed):
        raise ValueError(f"{role}, in test/docs/permissions.py: no reason for {sorted(allowed - set(known))}, "
                         f"and reasons for {sorted(set(known) - allowed)}, which it does not allow")
    return reasons


def bindings(objects: list[dict]) -> list[Binding]:
    roles = {(d["kind"], d["metadata"]["name"]): d for kind in ("Role", "ClusterRole") for d in of_kind(objects, kind)}
    found = []
    for kind in ("RoleBinding", "ClusterRoleBinding"):
        for d in of_kind(objects, kind):
            name, role = d["metadata"]["name"], (d["roleRef"]["kind"], d["roleRef"]["name"])
            rules = explained(role[1], roles[role]["rules"]) if role in roles else {}
            if not rules and name not in OF_KUBERNETES:
                raise ValueError(f"{name}: no reason for the role {role[1]} of Kubernetes, in test/docs/permissions.py")
            [subject] = d["subjects"]
            found.append(Binding(name, subject["name"], d["metadata"].get("namespace", ""), role[1], rules))
    return sorted(found, key=lambda binding: (list(ACCOUNTS).index(binding.account), binding.name))


ACCOUNTS = {
    "csi-azuredisk-controller-sa": "the controller and its sidecars",
    "csi-azuredisk-node-sa": "the node plug-in",
    "csi-azuredisk-scheduler-extender-sa": "the scheduler extender",
    "csi-azuredisk-scheduler-sa": "the chart's own kube-scheduler",
    "csi-snapshot-controller-sa": "the snapshot-controller",
    "csi-azuredisk-install-check-sa": "the Pod of `helm test`",
    "csi-azuredisk-upgrade-check-sa": "the upgrade check, while it runs; of each object that the release is going to have, or has of another chart, by its name, and volumes",
    "csi-azuredisk-uninstall-check-sa": "the uninstall check, while it runs",
}


@cache
def _atoms_with(option: str) -> set[tuple[str, str, str]]:
    values, apis = OPTIONS[option] if option else ({}, ())
    objects = render(values, apis=apis)
    found = {(d["metadata"]["name"], *atom) for kind in ("Role", "ClusterRole") for d in of_kind(objects, kind)
             for atom in _rendered(d["rules"])}
    return found | {(d["metadata"]["name"], "", "") for kind in ("RoleBinding", "ClusterRoleBinding") for d in of_kind(objects, kind)}


def _when(binding: Binding, row: tuple[str, str]) -> str:
    """Which values of the chart allow it; nothing if it is allowed by default."""
    wanted = {(binding.role, *atom) for atom in _atoms(*row)} if binding.rules else {(binding.name, "", "")}
    if wanted <= _atoms_with(""):
        return ""
    found = [option for option in OPTIONS if wanted <= _atoms_with(option)]
    if not found:  # names that come with several options, each its own
        return ""
    return "with snapshots" if "snapshots" in found else f"with {' or '.join(map(code, found))}"


def rows(account: str) -> Iterator[list[str]]:
    """Role and where it holds; resources; verbs; reason."""
    for binding in bindings(render(EVERYTHING)):
        if binding.account != account:
            continue
        place = f"{code(binding.role)}, {'in ' + code(binding.namespace) if binding.namespace else 'cluster'}"
        for row, reason in binding.rules.items() or [(("", ""), OF_KUBERNETES[binding.name])]:
            when = _when(binding, row)
            verbs = row[1].replace(" ", ", ") or "those of Kubernetes' role"
            kinds, _, names = row[0].partition(": ")
            what = " named ".join(codes(words.split()) for words in (kinds, names) if words)
            yield [place, what, verbs, reason + (f" ({when})" if when else "")]
