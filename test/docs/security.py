"""docs/security.md: written by hand, with tables that are made of the chart and of what is said here about each row."""

import re
from collections.abc import Callable, Iterator

from chart.chart import TREE, of_kind, render

from .markdown import code, codes, table
from .permissions import ACCOUNTS, EVERYTHING, rows

PAGE = TREE / "docs/security.md"
BLOCK = re.compile(r"(<!-- ([a-z]+): made by `make docs` -->\n).*?(<!-- end -->)", re.DOTALL)

# test/guest/test_privileges.py runs the node plug-in with these alone, and with all but one of them.
NODE_CAPABILITIES = {
    "CAP_SYS_ADMIN": (
        "`fsopen`, `move_mount`, `open_tree`, `umount2`; ioctls `BLKFLSBUF`, `BLKROSET`, `BLKRRPART`, and `XFS_IOC_FSGROWFSDATA` of xfs_growfs",
        "mounts; caches that are dropped; volumes that are read-only; growth", "NodeStage: `BLKFLSBUF: Permission denied`"),
    "CAP_SYS_RAWIO": (
        "ioctl `SG_IO` with PERSISTENT RESERVE IN and OUT", "[fences](fencing.md)",
        "the reservations of a disk cannot be read: `fencing: required` is refused with that, and `preferred` goes without a fence, which the log says"),
    "CAP_SYS_RESOURCE": (
        "ioctl `EXT4_IOC_RESIZE_FS` of resize2fs", "growth of ext4, ext3 and ext2 in use", "NodeExpand: `Permission denied to resize`"),
    "CAP_DAC_READ_SEARCH": (
        "`open` of a volume's root that its pod has for itself (mode 0700)", "volume statistics; the flush before an unmount",
        "the volume's condition is abnormal, and NodeUnstage fails"),
}

LEVELS = {  # of Pod Security; test/integration/test_pod_security.py asks the API server
    "csi-azuredisk-controller": "privileged, for the node's network alone; restricted with `controller.hostNetwork: false`",
    "csi-azuredisk-node": "privileged",
    "csi-azuredisk-scheduler-extender": "restricted",
    "csi-azuredisk-scheduler": "restricted",
    "csi-azuredisk-install-check": "restricted",
    "csi-azuredisk-upgrade-check": "restricted",
    "csi-azuredisk-uninstall-check": "restricted",
    "csi-snapshot-controller": "restricted",
}

METRICS = ("metrics and health", "`metrics.tls.secretName`; none by default",
           "anyone; with `metrics.tls.clientCASecretName`, only who has a certificate of that authority")
LISTENERS = {  # by container and flag: what for, TLS, who is let in
    ("azdisk-controller", "endpoint"): ("CSI, for the sidecars", "none: a Unix socket in the pod", "containers of the pod"),
    ("azdisk-controller", "health-address"): ("health, for azdisk-probe", "none: a Unix socket in the pod", "containers of the pod"),
    ("azdisk-controller", "metrics-address"): METRICS,
    ("azdisk-node", "endpoint"): ("CSI, for kubelet", "none: a Unix socket of the node, mode 0660", "root of the node"),
    ("azdisk-node", "registration-dir"): ("kubelet's registration of plug-ins", "none: a Unix socket of the node, mode 0660", "root of the node"),
    ("azdisk-node", "health-address"): ("health, for kubelet", "none", "whoever is in the node's network"),
    ("azdisk-node", "metrics-address"): METRICS,
    ("azdisk-scheduler-extender", "address"): (
        "kube-scheduler's calls", "`schedulerExtender.tls.secretName`; none by default",
        "anyone; with `tls.clientCASecretName`, only who has a certificate of that authority"),
    ("azdisk-scheduler-extender", "health-address"): ("health, for kubelet", "none", "anyone"),
    ("azdisk-scheduler-extender", "metrics-address"): METRICS,
    ("azdisk-scheduler-extender", "placement-address"): (
        "the API server's calls of the webhook, with `placement.mode: nominate` or `webhook`", "always",
        "anyone: the API server shows no certificate"),
    ("kube-scheduler", "secure-port"): ("metrics and health", "a certificate that it makes itself", "health: anyone; metrics: by token, which the API server reviews"),
}

POLICIES = {  # what each leaves: to whom, of what
    "azuredisk-node": ("node", "all records of the driver",
                       "the token is bound to a pod on the node; of its own AzDriverNode, creation and status; of its own "
                       "AzVolumeAttachments, a few notes in `status.annotation`; the disk limit of its VM stays the controller's"),
    "azuredisk-node-taint": ("node", "Nodes", "removing `DRIVER/agent-not-ready` from its own Node"),
    "azuredisk-node-lease": ("node", "Leases", "creating and writing the one of its own name and label; no deletion"),
    "azuredisk-stand-in": ("controller", "creating and deleting Nodes",
                           "Nodes with the out-of-service taint of a stand-in (`azuredisk-deleted-...`); patches are not covered"),
    "azuredisk-volumes-in-use": ("controller", "the status of Nodes", "taking the driver's own volumes off `volumesInUse`"),
    "azuredisk-placement": ("controller, extender", "creating and changing Pods",
                            "removing the driver's own scheduling gate; to the controller, `status.nominatedNodeName`"),
    "azuredisk-placement-certificate": ("controller", "creating Secrets", "the Secret of the webhook's certificate, of type `kubernetes.io/tls`"),
}


# ---- pods ----

def pods() -> dict[str, dict]:
    """By the name of what makes them, or their own."""
    objects = render(EVERYTHING)
    made = {d["metadata"]["name"]: d["spec"]["template"]["spec"]
            for kind in ("Deployment", "DaemonSet", "Job") for d in of_kind(objects, kind)}
    return made | {d["metadata"]["name"]: d["spec"] for d in of_kind(objects, "Pod")}


def program(container: dict) -> str:
    return container["command"][0].rpartition("/")[2] if "command" in container else container["name"]


def _files(pod: dict) -> str:
    """Of the node, and where what is mounted there is seen outside, too."""
    shared = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]
              if mount.get("mountPropagation") == "Bidirectional"} if any("hostPath" in v for v in pod.get("volumes", [])) else set()
    paths = [code(volume["hostPath"]["path"]) + (" (Bidirectional)" if volume["name"] in shared else "")
             for volume in pod.get("volumes", []) if "hostPath" in volume]
    return ", ".join(paths) or "none"


def _pod_rows() -> Iterator[list[str]]:
    found = pods()
    if set(found) != set(LEVELS):
        raise ValueError(f"pods of the chart, and LEVELS in test/docs/security.py: {sorted(set(found) ^ set(LEVELS))}")
    for name, pod in found.items():
        [context] = {str(c["securityContext"]): c["securityContext"] for c in pod["containers"]}.values()
        privileged = context.get("privileged", False)
        if (not context["readOnlyRootFilesystem"] or context.get("allowPrivilegeEscalation", True) != privileged or
                {"hostPID", "hostIPC", "shareProcessNamespace", "initContainers"} & set(pod)):
            raise ValueError(f"{name}: docs/security.md says that no pod is like that")
        changes = [f"{verb} {one}" for verb, all_of_them in context.get("capabilities", {}).items() for one in all_of_them]
        capabilities = ", ".join(["all (`privileged`)"] * privileged + changes)
        profile = "none (`privileged`)" if privileged else pod["securityContext"]["seccompProfile"]["type"]
        user = pod["securityContext"].get("runAsUser", 0)
        yield [code(name), codes(dict.fromkeys(map(program, pod["containers"]))), str(user), capabilities, profile,
               "node's" if pod.get("hostNetwork") else "pod's", _files(pod), LEVELS[name]]


# ---- network ----

def _listening() -> Iterator[tuple[str, str, str]]:
    """Container, flag, address."""
    for pod in pods().values():
        for container in pod["containers"]:
            for word in container.get("args", []):
                flag, _, address = word.removeprefix("--").partition("=")
                if re.fullmatch(r"(\w+-)?address|endpoint|registration-dir|secure-port", flag) and flag != "csi-address":
                    yield program(container), flag, address


def _port_rows() -> Iterator[list[str]]:
    found = list(_listening())
    if {(name, flag) for name, flag, _ in found} != set(LISTENERS):
        raise ValueError(f"LISTENERS in test/docs/security.py, and flags of the chart: {found}")
    ports = {str(port["containerPort"]) for pod in pods().values() for c in pod["containers"] for port in c.get("ports", [])}
    if ports - {address.rpartition(":")[2] for _, _, address in found}:
        raise ValueError(f"ports that no flag in LISTENERS of test/docs/security.py has: {ports}")
    for name, flag, address in found:
        yield [code(name), code(f"--{flag}={address}"), *LISTENERS[name, flag]]


# ---- accounts ----

def _policy_rows() -> Iterator[list[str]]:
    found = {d["metadata"]["name"]: d for d in of_kind(render(EVERYTHING), "ValidatingAdmissionPolicy")}
    if set(found) != set(POLICIES):
        raise ValueError(f"policies of the chart, and POLICIES in test/docs/security.py: {sorted(set(found) ^ set(POLICIES))}")
    for name, (who, of, leaves) in POLICIES.items():
        accounts = {account for account in ACCOUNTS if f":{account}\"" in str(found[name]["spec"]["matchConditions"])}
        if accounts != {next(a for a in ACCOUNTS if f"-{word}-sa" in a) for word in who.split(", ")}:
            raise ValueError(f"policy {name} is for {accounts}, and POLICIES in test/docs/security.py says {who}")
        yield [code(name), who, of, leaves]


def _permissions() -> str:
    parts = []
    for account, whose in ACCOUNTS.items():
        parts += [f"### {account}\n", f"Of {whose}.\n", table(["role", "resources", "verbs", "reason"], rows(account))]
    return "\n".join(parts)


BLOCKS: dict[str, Callable[[], str]] = {
    "pods": lambda: table(["pods of", "programs", "user", "capabilities", "seccomp", "network", "files of the node", "Pod Security level"],
                          _pod_rows()),
    "capabilities": lambda: table(["capability", "needed by", "of the driver", "without it"],
                                  ([code(name), *row] for name, row in NODE_CAPABILITIES.items())),
    "policies": lambda: table(["policy", "account", "concerns", "leaves"], _policy_rows()),
    "ports": lambda: table(["program", "listens at", "for", "TLS", "who is let in"], _port_rows()),
    "permissions": _permissions,
}


def text() -> str:
    """As it is, with its tables made anew."""
    page = PAGE.read_text()
    names = [found[2] for found in BLOCK.finditer(page)]
    if sorted(names) != sorted(BLOCKS):
        raise ValueError(f"docs/security.md has the tables {names}, and should have {list(BLOCKS)}, each once")
    return BLOCK.sub(lambda found: f"{found[1]}\n{BLOCKS[found[2]]()}\n{found[3]}", page)
