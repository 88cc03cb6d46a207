"""The programs may do what they do, and no more: they run with the accounts of the chart, and what they ask the API
server for, by its audit log, is compared with what the roles allow."""

import json
import subprocess
from pathlib import Path

import pytest
from chart.chart import FAILOVER, NO_CERT_MANAGER, SCHEDULER, SNAPSHOTS, containers, every_value_changed, of_kind, render
from cluster import tools
from cluster.authority import Authority
from cluster.waiting import until
from kubernetes import client, config

from .apiserver import free_port
from .azdiskctl import Calls
from .calls import create, delete, publish, refused, unpublish
from .csi import mounted
from .driver_world import GROUP, Controller, World
from .extender import Extender
from .kubernetes_side import forget, persistent_volume, volume_attachment
from .node.machine import SMALLEST_EXT4, Disk, Machine
from .node.plugin import NodePlugin
from .nomination import GATE
from .release import Permission, Release
from .sidecars import CONTAINERS, Sidecars
from .silent_node import SilentNode
from .test_failover import AUTOMATIC, KEY, asked, others, pod, pods
from .volume_snapshots import VolumeSnapshots, defined

CONTROLLER, NODE, EXTENDER = (
    "csi-azuredisk-controller-sa", "csi-azuredisk-node-sa", "csi-azuredisk-scheduler-extender-sa")
SNAPSHOT_CONTROLLER = "csi-snapshot-controller-sa"
INSTALL_CHECK, UPGRADE_CHECK, UNINSTALL_CHECK = (f"csi-azuredisk-{check}-check-sa" for check in ("install", "upgrade", "uninstall"))
CERTIFICATE = "csi-azuredisk-scheduler-extender-placement"
CLASS, SNAPSHOT_CLASS = "azuredisk-premium-ssd-lrs-replicas", "csi-azuredisk-vsc"


@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    with World(tmp_path_factory.mktemp("permissions"), apiserver, attach="50ms", detach="50ms") as world:
        yield world


@pytest.fixture(scope="module")
def release(world, apiserver):
    values = {"driver__objectNamespace": world.namespace, "controller__cloudConfigSecretName": "cloud",
              "controller__cloudConfigSecretNamespace": world.namespace,
              "placement__mode": "nominate", "failover__enabled": True, "snapshot__enabled": True,
              "snapshot__VolumeSnapshotClass__enabled": True}
    with defined(world.client), Release(apiserver, f"{world.namespace}-release", **values) as release:
        yield release


@pytest.fixture(scope="module")
def used(world, release, tmp_path_factory):
    """Every program has done all that it does."""
    flags = [f"--kubeconfig={release.kubeconfig(CONTROLLER)}", "--replica-gc-delay=1s",
             f"--leader-election-namespace={release.namespace}", "--audit-interval=1s", "--node-grace-period=4s",
             "--placement=nominate", "--placement-webhook=azuredisk-placement", f"--placement-certificate-secret={CERTIFICATE}"]
    with Controller(world, "one", *flags) as controller:
        a_volume_is_promoted_and_goes(world, controller)
        a_volume_is_recovered(world, controller)
        a_claim_is_served_by_the_sidecars(world, release, controller.socket)
        a_volume_that_failed_is_made(controller)
        a_snapshot_comes_and_goes(controller)
        a_silent_node_is_given_up(world, controller)
        a_pod_waits_at_the_gate(world, controller)
        a_webhook_gets_its_certificate(world, release)
        a_node_goes(world)
    the_plugin_stages_a_volume(world, release, tmp_path_factory.mktemp("node"))
    the_extender_takes_a_gate_away(world, release)
    the_checks_look(world, release)
    return release.uses()


# ---- what they do ----

def a_volume_is_promoted_and_goes(world: World, controller: Controller) -> None:
    volume = create(controller).volume_id
    with refused("NOT_FOUND"):
        publish(controller, volume, "nowhere")
    for node in (0, 1, 0, 1, 0):  # an event, and the same event again
        publish(controller, volume, world.nodes[node])
        until(lambda: world.roles("pvc-1").get("ab"[node]) == "Primary Attached", "the primary")
        until(lambda: len(world.roles("pvc-1")) == 3, "the replicas")
        unpublish(controller, volume, world.nodes[node])
    until(lambda: world.roles("pvc-1") == {}, "the replicas go")
    delete(controller, volume)


def a_volume_is_recovered(world: World, controller: Controller) -> None:
    volume = create(controller, name="lost", parameters={})
    publish(controller, volume.volume_id, world.nodes[0])
    until(lambda: world.roles("lost") == {"a": "Primary Attached"}, "the primary")
    with persistent_volume(world, volume.volume_id, {}) as pv, volume_attachment(world, pv, world.nodes[0]):
        for plural in ("azvolumes", "azvolumeattachments"):
            forget(world, plural)
            until(lambda: world.objects(plural), "they are there again")
        until(lambda: world.roles("lost") == {"a": "Primary Attached"}, "the primary")
    unpublish(controller, volume.volume_id, world.nodes[0])
    delete(controller, volume.volume_id)


def a_volume_that_failed_is_made(controller: Controller) -> None:
    with refused("NOT_FOUND", "ResourceGroupNotFound"):
        create(controller, name="again", parameters={"resourceGroup": "nowhere"})
    volume = create(controller, name="again").volume_id
    delete(controller, volume)


def a_snapshot_comes_and_goes(controller: Controller) -> None:
    volume = create(controller, name="source").volume_id
    snapshot = controller.csi.call("Controller/CreateSnapshot", name="copy", source_volume_id=volume).snapshot.snapshot_id
    for _ in range(2):
        controller.csi.call("Controller/DeleteSnapshot", snapshot_id=snapshot)
    delete(controller, volume)


def a_pod_waits_at_the_gate(world: World, controller: Controller) -> None:
    volume = create(controller, name="proposed").volume_id
    publish(controller, volume, world.nodes[0])
    until(lambda: list(world.roles("proposed").values()).count("Replica Attached") == 2, "the replicas")
    with persistent_volume(world, volume, {}):
        world.core.create_namespaced_pod(world.namespace, {"metadata": {"name": "gated"}, "spec": {
            "containers": [{"name": "c", "image": "x"}], "schedulingGates": [{"name": GATE}],
            "automountServiceAccountToken": False,
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "claim"}}]}})
        until(lambda: not world.core.read_namespaced_pod("gated", world.namespace).spec.scheduling_gates, "it is let through")
        gated = world.core.read_namespaced_pod("gated", world.namespace)
        assert gated.status.nominated_node_name == world.nodes[0]
        world.core.delete_namespaced_pod("gated", world.namespace, grace_period_seconds=0)
    unpublish(controller, volume, world.nodes[0])
    delete(controller, volume)


def a_webhook_gets_its_certificate(world: World, release: Release) -> None:
    """And another one for one that is broken."""
    configurations = of_kind(release.objects, "MutatingWebhookConfiguration")
    release.kubectl("apply", "--filename=-", objects=configurations)
    hooks = client.AdmissionregistrationV1Api(world.client)
    place = CERTIFICATE, release.namespace

    def is_trusted() -> bool:
        [hook] = hooks.read_mutating_webhook_configuration("azuredisk-placement").webhooks
        return bool(hook.client_config.ca_bundle)

    until(is_trusted, "a certificate that is trusted")
    world.core.patch_namespaced_secret(*place, {"data": {"tls.crt": ""}})
    until(lambda: world.core.read_namespaced_secret(*place).data["tls.crt"], "another certificate")
    release.kubectl("delete", "--filename=-", objects=configurations)


def a_silent_node_is_given_up(world: World, controller: Controller) -> None:
    volume = create(controller, name="automatic", parameters=AUTOMATIC).volume_id
    publish(controller, volume, world.nodes[0])
    until(lambda: list(world.roles("automatic").values()).count("Replica Attached") == 2, "the replicas")
    with persistent_volume(world, volume, {}) as pv, volume_attachment(world, pv, world.nodes[0]):
        node, neighbours = SilentNode(world, "a"), others(world)
        node.boot()
        node.fences("automatic", KEY)
        node.has_in_use(f"{world.driver}^{volume}")
        pod(world, "moved", node.name, "claim")
        pod(world, "with-other", node.name, "of-another-driver")
        node.renews()
        until(lambda: asked(neighbours, "automatic"), "a replica is asked")[0].answers("automatic")
        until(lambda: "moved" not in pods(world), "one pod is moved")
        until(lambda: not node.in_use(), "its volume is not in use")
        world.core.delete_namespaced_pod("with-other", world.namespace, grace_period_seconds=0)
        until(node.taint, "it is given up")
        node.boot()
        until(lambda: node.taint() is None, "it is taken back")
        world.core.delete_node(node.name)
        replica = until(lambda: next((each for each in neighbours if each.is_asked_anew("automatic")), None), "one is asked anew")
        replica.answers("automatic")
        until(lambda: node.taint() == f"azuredisk-deleted-{node.boot_id}", "another Node stands in for it")
        unpublish(controller, volume, world.nodes[0])
    until(lambda: not node.is_there(), "it goes")
    until(lambda: not world.find("azdrivernodes", node.name), "its AzDriverNode goes")
    world.add_node(node.name)
    node.leases.delete_namespaced_lease(node.name, world.namespace)  # the plug-in makes its own
    delete(controller, volume)


def a_node_goes(world: World) -> None:
    world.core.delete_node(world.nodes[2])
    until(lambda: not world.find("azdrivernodes", world.nodes[2]), "its AzDriverNode goes")


def sidecars(world: World, release: Release, socket: Path) -> Sidecars:
    accounts = {name: CONTROLLER for name in CONTAINERS} | {"snapshot-controller": SNAPSHOT_CONTROLLER}
    programs = {name: [*release.arguments(name), f"--kubeconfig={release.kubeconfig(account)}"]
                for name, account in accounts.items()}
    for name in CONTAINERS:
        programs[name].append(f"--csi-address={socket}")
    return Sidecars(world.folder, programs)


def a_claim_is_served_by_the_sidecars(world: World, release: Release, socket: Path) -> None:
    """The test does the part of Kubernetes' own controllers, and of the scheduler."""
    storage = client.StorageV1Api(world.client)
    for name in world.nodes:
        driver = {"name": GROUP, "nodeID": name, "topologyKeys": [f"topology.{GROUP}/zone"]}
        storage.create_csi_node({"metadata": {"name": name}, "spec": {"drivers": [driver]}})
    modified = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttributesClass", "metadata": {"name": "plain"},
                "driverName": GROUP, "parameters": {"skuName": "Premium_LRS"}}
    world.custom.create_cluster_custom_object("storage.k8s.io", "v1", "volumeattributesclasses", modified)
    with sidecars(world, release, socket):
        name = a_claim_gets_its_volume(world, release.namespace, "claim", "4Gi", volumeAttributesClassName="plain")
        attachment = {"metadata": {"name": f"{name}-a"},
                      "spec": {"attacher": GROUP, "nodeName": world.nodes[0], "source": {"persistentVolumeName": name}}}
        storage.create_volume_attachment(attachment)
        until(lambda: storage.read_volume_attachment(f"{name}-a").status.attached, "the attachment")
        storage.delete_volume_attachment(f"{name}-a")
        until(lambda: not [a for a in storage.list_volume_attachment().items if a.metadata.name == f"{name}-a"],
              "the attachment goes")
        the_claim_grows(world.core, release.namespace, name)
        the_claim_has_snapshots(world, release.namespace)
        a_claim_goes(world, release.namespace, "claim", name)
    world.custom.delete_cluster_custom_object("storage.k8s.io", "v1", "volumeattributesclasses", "plain")
    for csi_node in world.nodes:
        storage.delete_csi_node(csi_node)


def a_claim_gets_its_volume(world: World, namespace: str, name: str, size: str, **spec: object) -> str:
    """The name of its PersistentVolume, which it is bound to."""
    annotations = {"volume.kubernetes.io/storage-provisioner": GROUP, "volume.kubernetes.io/selected-node": world.nodes[0]}
    world.core.create_namespaced_persistent_volume_claim(namespace, {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"storageClassName": CLASS, "accessModes": ["ReadWriteOnce"],
                 "resources": {"requests": {"storage": size}}, **spec}})

    def volume():
        return next((pv for pv in world.core.list_persistent_volume().items if pv.spec.claim_ref and
                     (pv.spec.claim_ref.namespace, pv.spec.claim_ref.name) == (namespace, name)), None)

    found = until(volume, f"the PersistentVolume of {name}").metadata.name
    world.core.patch_namespaced_persistent_volume_claim(name, namespace, {"spec": {"volumeName": found}})
    bound = {"status": {"phase": "Bound", "capacity": {"storage": size}}}
    world.core.patch_namespaced_persistent_volume_claim_status(name, namespace, bound)
    return found


def a_claim_goes(world: World, namespace: str, name: str, volume: str) -> None:
    world.core.delete_namespaced_persistent_volume_claim(name, namespace)
    world.core.patch_namespaced_persistent_volume_claim(name, namespace, {"metadata": {"finalizers": None}})
    world.core.patch_persistent_volume_status(volume, {"status": {"phase": "Released"}})
    until(lambda: not world.find("azvolumes", volume), "the disk goes")
    until(lambda: _only_protected(world.core, volume), "the PersistentVolume goes")


def the_claim_has_snapshots(world: World, namespace: str) -> None:
    """One that is refused, and one that a volume is made from."""
    snapshots = VolumeSnapshots(world.client, namespace)
    snapshots.create_class("wrong", GROUP, {"surprise": "1"})
    snapshots.create("refused", "claim", "wrong")
    until(lambda: "surprise" in snapshots.status("refused").get("error", {}).get("message", ""), "it is refused")
    snapshots.create("taken", "claim", SNAPSHOT_CLASS)
    until(lambda: snapshots.status("taken").get("readyToUse"), "the snapshot is ready")
    source = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "taken"}
    restored = a_claim_gets_its_volume(world, namespace, "restored", "6Gi", dataSource=source)
    for name in ("refused", "taken"):
        snapshots.delete(name)
    until(lambda: not snapshots.any_left(), "the snapshots go")
    assert world.objects("azsnapshots") == []
    snapshots.delete_class("wrong")
    a_claim_goes(world, namespace, "restored", restored)


def the_claim_grows(core: client.CoreV1Api, namespace: str, volume: str) -> None:
    more = {"spec": {"resources": {"requests": {"storage": "6Gi"}}}}
    core.patch_namespaced_persistent_volume_claim("claim", namespace, more)

    def waits_for_its_node() -> bool:
        status = core.read_namespaced_persistent_volume_claim("claim", namespace).status
        return "FileSystemResizePending" in [condition.type for condition in status.conditions or []]

    until(waits_for_its_node, "the disk has grown")
    assert core.read_persistent_volume(volume).spec.capacity["storage"] == "6Gi"


def _only_protected(core: client.CoreV1Api, name: str) -> bool:
    """Whether nobody but Kubernetes itself keeps it; then it goes. That finalizer is taken away by the test."""
    volume = next((pv for pv in core.list_persistent_volume().items if pv.metadata.name == name), None)
    if volume and volume.metadata.deletion_timestamp and volume.metadata.finalizers == ["kubernetes.io/pv-protection"]:
        core.patch_persistent_volume(name, {"metadata": {"finalizers": None}})
        return True
    return volume is None


def the_plugin_stages_a_volume(world: World, release: Release, folder) -> None:
    node = world.nodes[0]
    world.delete("azdrivernodes", node)
    machine, disk = Machine(), Disk(folder, SMALLEST_EXT4)
    machine.reach(world.apiserver.port)
    machine.attach(disk, 0)
    labels = {f"{GROUP}/node-name": node, f"{GROUP}/volume-name": "data"}
    name, volume = f"data-{node}-attachment", "/subscriptions/s/data"
    world.create("azvolumeattachments", {
        "metadata": {"name": name, "labels": labels},
        "spec": {"volumeName": "data", "volume_id": volume, "nodeName": node, "role": "Primary",
                 "volume_context": {"automaticFailover": "true"}}})
    context = {"LUN": "0", "diskSizeBytes": str(SMALLEST_EXT4)}
    status = {"state": "Attached", "detail": {"role": "Primary", "publish_context": context}}
    world.patch("azvolumeattachments", name, {"status": status}, status=True)
    world.create("azvolumes", {
        "metadata": {"name": "data"},
        "spec": {"volumeName": "data", "maxMountReplicaCount": 0, "parameters": {"maxShares": "2"},
                 "volumeCapability": [{"access_type": 1, "access_mode": 1, "fs_type": "ext4"}]}})
    detail = {"volume_id": volume, "capacity_bytes": SMALLEST_EXT4, "node_expansion_required": False}
    world.patch("azvolumes", "data", {"status": {"state": "Created", "detail": detail}}, status=True)
    (folder / "staging").mkdir()
    plugin = NodePlugin(machine, folder, release.kubeconfig(NODE, node), node)
    storage = client.StorageV1Api(world.client)
    try:
        taint = {"key": f"{GROUP}/agent-not-ready", "effect": "NoSchedule"}
        world.core.patch_node(node, {"spec": {"taints": [taint]}})
        driver = {"name": GROUP, "nodeID": node, "topologyKeys": []}
        storage.create_csi_node({"metadata": {"name": node}, "spec": {"drivers": [driver]}})
        plugin.run(f"--object-namespace={world.namespace}", *of_failover(release))
        until(lambda: not world.core.read_node(node).spec.taints, "the startup taint is gone")
        world.patch("azdrivernodes", node, {"status": {"slots": {"limit": 8}}}, status=True)
        plugin.info()
        plugin.stage(volume, folder / "staging", mounted())
        plugin.unstage(volume, folder / "staging")
        the_node_has_its_lease(world, node, name)
        assert plugin.stop() == 0
        storage.delete_csi_node(node)
    finally:
        plugin.close()
        machine.close()
        disk.close()


def of_failover(release: Release) -> list[str]:
    """The flags that the chart gives the plug-in for it."""
    [plugin] = [c for c in containers(release.objects) if "/bin/azdisk-node" in c.get("command", [])]
    flags = [flag for flag in plugin["args"] if flag.startswith("--node-lease")]
    assert flags
    return flags


def the_node_has_its_lease(world: World, node: str, attachment: str) -> None:
    """As if its device had a fence; and gives it up with that."""
    leases = client.CoordinationV1Api(world.client)
    note = f"{GROUP}/fence"

    def held() -> bool:
        found = [lease for lease in leases.list_namespaced_lease(world.namespace).items if lease.metadata.name == node]
        return bool(found and found[0].spec.holder_identity)

    for text, expected in (("held 0x0a0a0a0a00000001", True), ("lost 0x0a0a0a0a00000001", False)):
        world.patch("azvolumeattachments", attachment, {"status": {"annotation": {note: text}}}, status=True)
        until(lambda: held() is expected, "the node's Lease")


def the_extender_takes_a_gate_away(world: World, release: Release) -> None:
    """Of a pod for which no leader proposes a node any more."""
    authority = Authority(world.folder / "webhook", "")
    authority.create()
    authority.certificate("webhook", "/CN=webhook", usage="serverAuth")
    words = [word for word in release.arguments("csi-azuredisk-scheduler-extender")
             if word.startswith(("--placement-mode", "--leader", "--object-namespace"))]
    extender = Extender(world.folder / "extender.log", *words, f"--placement-address=127.0.0.1:{free_port()}",
                        f"--placement-tls-cert-file={authority.path('webhook.crt')}",
                        f"--placement-tls-key-file={authority.path('webhook.key')}", kubeconfig=release.kubeconfig(EXTENDER))
    with extender:
        extender.until_ready()
        world.core.create_namespaced_pod(world.namespace, {"metadata": {"name": "left"}, "spec": {
            "containers": [{"name": "c", "image": "x"}], "schedulingGates": [{"name": GATE}],
            "automountServiceAccountToken": False}})
        until(lambda: not world.core.read_namespaced_pod("left", world.namespace).spec.scheduling_gates, "it is let through")
        world.core.delete_namespaced_pod("left", world.namespace, grace_period_seconds=0)


def the_checks_look(world: World, release: Release) -> None:
    """As Helm runs them; what they find does not matter here."""
    plan = world.folder / "plan"
    [text] = [d["data"]["plan"] for d in of_kind(release.objects, "ConfigMap") if "plan" in d["data"]]
    plan.write_text(text)
    [install] = [d["spec"]["containers"][0]["args"] for d in of_kind(release.objects, "Pod")]
    for account, words in ((INSTALL_CHECK, install), (UPGRADE_CHECK, ["upgrade-check", str(plan)]), (UNINSTALL_CHECK, ["uninstall-check"])):
        process = Calls(release.kubeconfig(account), world.namespace).start(*words)
        output, errors = process.communicate(timeout=120)
        assert process.returncode in (0, 1) and output, errors


# ---- what they may do ----

# What the scenes do not bring about, and why it is allowed.
OLD_SERVER = "client-go lists where the API server has no streaming lists"
BEYOND = {CONTROLLER: {
    "list csinodes.storage.k8s.io": OLD_SERVER,
    "list persistentvolumeclaims": OLD_SERVER,
    "list persistentvolumes": OLD_SERVER,
    "list storageclasses.storage.k8s.io": OLD_SERVER,
    "list volumeattachments.storage.k8s.io": OLD_SERVER,
    "list volumeattributesclasses.storage.k8s.io": OLD_SERVER,
    "list volumesnapshotclasses.snapshot.storage.k8s.io": OLD_SERVER,
    "update persistentvolumeclaims": "csi-provisioner takes the node off a claim that cannot be served there",
    "patch events": "the sidecars count an event that happens again",
}, SNAPSHOT_CONTROLLER: {
    "list persistentvolumeclaims": OLD_SERVER,
    "list persistentvolumes": OLD_SERVER,
    "patch events": "an event that happens again is counted",
}}


def test_nothing_was_refused(used):
    assert [str(use) for use, allowed in used.items() if not allowed] == []


def test_nothing_is_allowed_that_nobody_does(release, used):
    unused = {str(permission) for permission in release.permissions()
              if not any(permission.covers(use) for use in used)}
    expected = {f"{account}: {what}" for account, rows in BEYOND.items() for what in rows}
    assert not unused - expected, "\n".join(sorted(unused - expected))
    assert expected <= set(map(str, release.permissions())), "BEYOND says more than is allowed"


OF_NODES = [
    ("a Node goes", ["delete", "node", "{there}"], None),
    ("all Nodes go", ["delete", "nodes", "--all"], None),
    ("a Node", ["create", "--validate=false", "--filename=-"], {}),
    ("a Node that was given up", ["create", "--validate=false", "--filename=-"],
     {"taints": [{"key": "node.kubernetes.io/out-of-service", "value": "azuredisk-x", "effect": "NoExecute"}]}),
    ("a Node that pods may go to", ["create", "--validate=false", "--filename=-"],
     {"taints": [{"key": "example.com/x", "value": "azuredisk-deleted-x", "effect": "NoExecute"}]}),
]


@pytest.mark.parametrize(("what", "words", "spec"), OF_NODES, ids=[row[0] for row in OF_NODES])
def test_the_controller_makes_and_deletes_no_node_but_a_stand_in(world, release, what, words, spec):
    """Its role alone would allow it."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{world.prefix}new"}, "spec": spec}
    kubectl = [tools.folder() / "kubectl", "--kubeconfig", release.kubeconfig(CONTROLLER)]
    done = subprocess.run([*kubectl, *(word.format(there=world.nodes[1]) for word in words)], input=json.dumps(node),
                          capture_output=True, text=True)
    assert "ValidatingAdmissionPolicy 'azuredisk-stand-in'" in done.stderr, done.stderr or "it was done"


IN_USE = [
    ("another driver's volume", {"volumesInUse": ["kubernetes.io/csi/disk.csi.azure.com^b"]}),
    ("one more", {"volumesInUse": ["a", "kubernetes.io/csi/disk.csi.azure.com^b", "c"]}),
    ("a condition", {"volumesInUse": ["a"], "conditions": [{"type": "Ready", "status": "False"}]}),
    ("the phase", {"phase": "Running"}),
]


@pytest.mark.parametrize(("what", "status"), IN_USE, ids=[row[0] for row in IN_USE])
def test_of_a_nodes_status_the_controller_takes_its_own_volumes_off(world, release, what, status):
    """Its role alone would allow it, and does until the policy is in force."""
    def is_refused() -> bool:
        world.core.patch_node_status(node, {"status": {"volumesInUse": ["a", "kubernetes.io/csi/disk.csi.azure.com^b"]}})
        try:
            controller.patch_node_status(node, {"status": status})
        except client.ApiException as error:
            return "ValidatingAdmissionPolicy 'azuredisk-volumes-in-use'" in error.body
        return False

    node, controller = world.nodes[1], client.CoreV1Api(config.new_client_from_config(str(release.kubeconfig(CONTROLLER))))
    until(is_refused, what)
    controller.patch_node_status(node, {"status": {"volumesInUse": ["a"]}})


def leases(release: Release, account: str) -> set[str]:
    return {str(p).removeprefix(f"{account}: ") for p in release.permissions()
            if p.account == account and "leases" in p.resource}


def test_sidecars_get_their_leases_and_no_other(release):
    """They are named in their code: cmd/csi-provisioner/csi-provisioner.go, main.go of the others, and sanitizeName of
    csi-lib-utils/leaderelection, of the versions that the chart has."""
    own = "csi-azuredisk-controller"
    driver = "disk-csi-azure-com"
    theirs = (driver, f"external-attacher-leader-{driver}", f"external-resizer-{driver}",
              f"external-snapshotter-leader-{driver}")
    create = "create leases.coordination.k8s.io"  # which cannot be restricted by name
    assert leases(release, CONTROLLER) == {
        create,
        *(f"{verb} leases.coordination.k8s.io" for verb in ("get", "list")),  # of the nodes, to hear of them
        *(f"{verb} leases.coordination.k8s.io {own}" for verb in ("get", "patch")),
        *(f"{verb} leases.coordination.k8s.io {name}" for verb in ("get", "update") for name in theirs)}
    assert leases(release, SNAPSHOT_CONTROLLER) == {
        create, *(f"{verb} leases.coordination.k8s.io snapshot-controller-leader" for verb in ("get", "update"))}


def test_a_permission_covers_what_it_allows():
    whole = Permission("a", "", "pods", "get", "")
    narrow = Permission("a", "n", "pods", "get", "x")
    use = Permission("a", "n", "pods", "get", "x")
    assert whole.covers(use) and narrow.covers(use)
    for field, other in [("account", "b"), ("resource", "pods/status"), ("verb", "list")]:
        assert not whole.covers(use._replace(**{field: other}))
    for field in ("namespace", "name"):
        assert not narrow.covers(use._replace(**{field: "other"}))


# ---- what the API server says of all of it ----

ALL_CHANGED = every_value_changed() | SNAPSHOTS | FAILOVER | SCHEDULER | NO_CERT_MANAGER


@pytest.mark.parametrize("values", [{}, ALL_CHANGED], ids=["by default", "with every value changed"])
def test_the_api_server_takes_every_object(release, values):
    """Fields that it does not know, and values that it does not allow, are errors."""
    objects = render(values, release.namespace)
    namespaces = {d["metadata"].get("namespace") for d in objects} - {None, release.namespace}
    for document in objects:
        if document["metadata"].get("namespace") in namespaces:
            document["metadata"]["namespace"] = release.namespace
    said = release.kubectl("apply", "--dry-run=server", "--validate=strict", "--filename=-", objects=objects)
    assert said.count("(server dry run)") == len(said.splitlines())
