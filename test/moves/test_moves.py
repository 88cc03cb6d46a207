"""From Microsoft's drivers to this one, to another version of it, away and back, under a database that is written to all the
time (docs/moving.md). One story: each test begins where the one before has ended."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from azsim import simulator
from azsim.compute import compute_client
from cluster.command import CommandFailed
from cluster.waiting import until
from deployment.driver import OBJECTS
from deployment.ledger import Ledger, only_on
from deployment.page import blocks

from . import version_1, version_2

PAGE = "moving.md"
SECONDS = 120
PRIMARY, REPLICA = "Primary Attached", "Replica Attached"
SNAPSHOT = {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
            "metadata": {"name": "before", "namespace": "default"},
            "spec": {"volumeSnapshotClassName": "csi-azuredisk-vsc", "source": {"persistentVolumeClaimName": "data-writer-0"}}}


@pytest.fixture
def moving(cluster, azure, writer, measured):
    """What a move has to be: the database does not notice it; what the driver of before has mounted, and what it has begun,
    the driver of after ends."""
    @contextmanager
    def moving(name: str) -> Iterator[Ledger]:
        guest, latecomer = (Ledger(cluster, f"{who}-{name.replace('_', '-')}", max_shares=1) for who in ("guest", "latecomer"))
        guest.apply()
        guest.wait_ready(SECONDS)
        latecomer.apply()
        until(latecomer.node, "it waits for its disk", SECONDS, interval=0.1)
        yield guest
        writer.goes_on()
        latecomer.wait_ready(SECONDS)
        for each in (guest, latecomer):
            each.delete()
        until(lambda: [disk["name"] for disk in azure.control("GET", "disks")["disks"]] == [writer.volume],
              "their disks are deleted", SECONDS, interval=0.3)
        measured["moves"][name] = True

    return moving


def replica(driver, writer) -> str:
    """The node that has it, once the volume has its one replica."""
    def found() -> str | None:
        roles = dict(driver.roles(writer.volume))
        if roles.pop(writer.node, None) != PRIMARY or list(roles.values()) != [REPLICA]:
            return None
        return next(iter(roles))

    return until(found, "a primary and a replica", SECONDS, interval=0.3)


class Records:
    """Those that there are, and what Azure was asked for until now."""

    def __init__(self, cluster, azure, writer):
        self.cluster, self.azure, self.writer = cluster, azure, writer
        self.uids, self.request = self._uids(), azure.last_request()

    def _uids(self) -> set[str]:
        return {item["metadata"]["uid"] for item in self.cluster.get("azvolumes,azvolumeattachments", "-n", OBJECTS)["items"]}

    def go_on(self) -> bool:
        """None is another one, and no disk of theirs has come or gone; there may be more."""
        changes = [entry for entry in self.azure.journal(self.request)
                   if self.writer.volume in (*entry.get("attached", []), *entry.get("detached", []))]
        return not changes and self.uids <= self._uids()


# ---- from version 1 ----

def test_from_version_1(cluster, azure, driver, terminal, writer, moving):
    cluster.apply(SNAPSHOT)
    cluster.kubectl("wait", "volumesnapshot/before", "--for=jsonpath={.status.readyToUse}=true", f"--timeout={SECONDS}s")
    with moving("v1_in"):
        upgrade, keep_and_upgrade = blocks(PAGE, "From version 1")
        with pytest.raises(CommandFailed):
            terminal.type(upgrade)
        why = cluster.kubectl("logs", "job/csi-azuredisk-upgrade-check", "-n", "kube-system")
        assert "volumesnapshots.snapshot.storage.k8s.io\n" in why and "helm.sh/resource-policy=keep" in why
        assert len(driver.pods("node")[0]["spec"]["containers"]) == 3, "nothing has been changed"
        terminal.type(keep_and_upgrade)
        assert replica(driver, writer) != writer.node
    assert azure.control("GET", "snapshots")["snapshots"], "the snapshot is there, in Kubernetes and in Azure"
    cluster.kubectl("delete", "volumesnapshot", "before", f"--timeout={SECONDS}s")
    until(lambda: not azure.control("GET", "snapshots")["snapshots"], "it is deleted by this driver", SECONDS, interval=0.3)


# ---- this driver ----

def test_to_another_version(cluster, azure, driver, terminal, writer, moving):
    chart = terminal.folder / "charts" / "azuredisk-csi-driver" / "Chart.yaml"
    before = chart.read_text()
    chart.write_text(before.replace("0.1.0", "0.1.1"))
    assert chart.read_text() != before
    with moving("upgrade"):
        records = Records(cluster, azure, writer)
        [command] = blocks(PAGE, "To another version of this driver")
        terminal.type(command)
        assert replica(driver, writer) and records.go_on()
        versions = {pod["metadata"]["labels"]["app.kubernetes.io/version"] for part in ("controller", "node")
                    for pod in driver.pods(part) if "deletionTimestamp" not in pod["metadata"]}
        assert versions == {"0.1.1"}


def test_uninstalled_and_installed_again(cluster, azure, driver, terminal, writer, moving):
    with moving("reinstall"):
        with pytest.raises(CommandFailed):
            terminal.type("helm uninstall azuredisk -n kube-system --wait --timeout 1m")
        records = Records(cluster, azure, writer)
        [commands] = blocks(PAGE, "Uninstalled, and installed again")
        terminal.type(commands)
        assert replica(driver, writer) and records.go_on()


def test_back_to_version_1(cluster, driver, terminal, writer, moving):
    with moving("v1_back"):
        back, forget = blocks(PAGE, "Back to version 1")
        terminal.type(back)
        until(lambda: {len(pod["spec"]["containers"]) for pod in driver.pods("node")} == {3}, "the last plug-in has ended")
        terminal.type(forget)
        assert writer.vms() == [writer.node]
        assert "azvolumes" not in cluster.kubectl("api-resources", "-o", "name")


# ---- from version 2 ----

def attach(cluster, azure, disk: str, vm: str) -> None:
    """As version 2 attaches a replica's."""
    with cluster.inside("cp"):
        compute_client(azure).virtual_machines.begin_attach_detach_data_disks(
            simulator.GROUP, vm, {"dataDisksToAttach": [{"diskId": simulator.disk_id(disk), "lun": 5, "caching": "None"}]},
            polling_interval=0.2).result()


def leave_records(cluster, azure, writer, guest: Ledger) -> None:
    """As version 2's controllers leave them, and what belongs to them in Azure."""
    attach(cluster, azure, writer.volume, "node-a")
    attached = {va["spec"]["source"]["persistentVolumeName"]: va for va in cluster.get("volumeattachments")["items"]}
    objects = [version_2.driver_node(node) for node in cluster.nodes]
    objects.append(version_2.attachment(writer.volume, "node-a", "Replica", "5"))
    for of, replicas in ((writer.ledger, 1), (guest, 0)):
        pv, va = cluster.get("pv", of.volume()), attached[of.volume()]
        lun = va["status"]["attachmentMetadata"]["LUN"]
        objects += [version_2.volume(pv, f"data-{of.pod}", replicas),
                    version_2.attachment(of.volume(), va["spec"]["nodeName"], "Primary", lun)]
    cluster.apply(*objects)
    for one in objects:
        cluster.kubectl("patch", one["kind"].lower(), one["metadata"]["name"], "-n", OBJECTS, "--subresource=status",
                        "--type=merge", "-p", json.dumps({"status": one["status"]}))


def test_from_version_2(cluster, azure, driver, terminal, writer, moving):
    with moving("v2_in") as guest:
        terminal.type("helm uninstall azuredisk -n kube-system --wait")
        terminal.type(f"helm install azuredisk {version_2.CHART} -n kube-system")
        leave_records(cluster, azure, writer, guest)
        terminal.write("old.yaml", "{}")  # all of its values are as its chart has them
        records = Records(cluster, azure, writer)
        [command] = blocks(PAGE, "From version 2")
        terminal.type(command)
        assert replica(driver, writer) == "node-a" and records.go_on(), "the one that it had"


# ---- and what all of it is for ----

def test_nothing_is_lost_and_a_replica_takes_over(cluster, azure, driver, writer, measured):
    measured["pod_restarts"], measured["records_lost"] = writer.restarts(), writer.lost()
    assert (measured["pod_restarts"], measured["records_lost"]) == (0, 0)
    target, request = replica(driver, writer), azure.last_request()
    with only_on(cluster, target):
        cluster.kubectl("delete", "pod", writer.ledger.pod, f"--timeout={SECONDS}s")
        writer.ledger.wait_ready(SECONDS)
    assert writer.ledger.node() == target and azure.attach_calls(writer.volume, request, vm=target) == 0
    assert writer.ledger.missing() == 0


def test_the_page_has_no_command_that_is_not_run():
    sections = {"From version 1": 2, "From version 2": 1, "To another version of this driver": 1,
                "Uninstalled, and installed again": 1, "Back to version 1": 2}
    assert {heading: len(blocks(PAGE, heading)) for heading in sections} == sections
    assert version_1.CHART in blocks(PAGE, "Back to version 1")[0]
