"""Volumes of every kind, as pods use them, and a StorageClass that cannot be."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from cluster.waiting import until
from deployment.driver import NAMESPACE
from kubernetes import client, config

from .every_volume import FILE_SYSTEMS, GIB, GROUP, KINDS, PATH, USER, Pod, claim, shown_capacities, storage_class, user

AZDISKCTL = Path(__file__).parents[2] / "build/plain/bin/azdiskctl"


@pytest.fixture(scope="module")
def core(cluster) -> client.CoreV1Api:
    return client.CoreV1Api(config.new_client_from_config(str(cluster.authority.path("admin.conf"))))


@pytest.fixture(scope="module")
def first(cluster, claims) -> dict[str, dict[str, str]]:
    """A pod writes to every volume and goes; what it saw of each."""
    seen = {}
    with Pod(cluster, user("first", "node-a")) as pod:
        for kind in FILE_SYSTEMS:
            pod.run(kind, f"echo kept >{PATH}/file; sync")
            seen[kind] = {
                "mount": pod.run(kind, f"grep ' {PATH} ' /proc/mounts"),
                "folder": pod.run(kind, f"stat -c '%g %A' {PATH}"),
                "file": pod.run(kind, f"stat -c '%u %g' {PATH}/file"),
            }
        pod.run("block", f"echo kept | dd of={PATH} bs=512 conv=sync,fsync")
    return seen


@pytest.fixture(scope="module")
def second(cluster, first):
    """The next one, on another node, may only read its file systems."""
    with Pod(cluster, user("second", "node-b", read_only=True)) as pod:
        yield pod


@pytest.mark.parametrize("kind", KINDS)
def test_data_survives_a_move(kind, second):
    content = f"head -c 5 {PATH}" if kind == "block" else f"cat {PATH}/file"
    assert second.run(kind, content) == "kept"


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_the_file_system_is_the_one_asked_for(kind, first):
    assert first[kind]["mount"].split()[2] == kind


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_a_read_only_mount_refuses_writes(kind, second):
    with pytest.raises(RuntimeError, match="Read-only file system"):
        second.run(kind, f"touch {PATH}/other")


def test_kubelet_measures_volumes(cluster, second):
    def capacities() -> dict[str, float] | None:
        shown = shown_capacities(cluster, "node-b")
        return shown if shown.keys() >= {*KINDS} else None

    found = until(capacities, "kubelet's figures", interval=1)
    assert found["block"] == GIB and all(0.8 * GIB < found[kind] < GIB for kind in FILE_SYSTEMS), found


def test_helm_test_says_that_the_driver_works(cluster, driver, second):
    told = driver.test()
    assert re.search(r"^Controller: .+ leads$", told, re.MULTILINE), told
    assert re.search(r"^Node plug-ins: (\d+) of \1 in order$", told, re.MULTILINE), told
    cluster.kubectl("delete", "pod/csi-azuredisk-install-check", "-n", NAMESPACE)


def test_the_logs_of_a_volume_are_of_all_that_have_it(cluster, second):
    volume = cluster.get("pvc", "ext4")["spec"]["volumeName"]
    words = cluster.command(AZDISKCTL, "logs", volume, "--since=1h", "-o", "json")
    told = subprocess.run(words, capture_output=True, text=True)  # 1: what ran before is gone by now
    assert told.returncode in (0, 1), told.stderr
    lines = json.loads(told.stdout)["lines"]
    said = {"-".join(line["pod"].split("-")[:3]) + " " + line["container"] for line in lines}
    controller = "csi-azuredisk-controller"
    assert {f"{controller} csi-provisioner", f"{controller} azuredisk", "csi-azuredisk-node azuredisk"} <= said
    assert all(volume in line["text"] and line["time"] for line in lines)
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)


def test_the_driver_stays_while_a_volume_is_published(cluster, driver, second):
    with pytest.raises(RuntimeError, match="uninstall-check failed"):
        driver.uninstall()
    job = "job/csi-azuredisk-uninstall-check"
    told = cluster.kubectl("logs", job, "-n", NAMESPACE)
    where = [line.split()[1:] for line in told.splitlines()]
    assert all([f"default/{kind}", "node-b"] in where for kind in KINDS), told
    assert "must not be uninstalled" in told
    assert driver.pods("node", "node-b") and second.run("ext4", f"cat {PATH}/file") == "kept"
    cluster.kubectl("delete", job, "-n", NAMESPACE)


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_a_file_system_belongs_to_the_pods_group(kind, first):
    """The pod's process is nobody, and could not have written otherwise."""
    group, mode = first[kind]["folder"].split()
    assert group == str(GROUP)
    assert mode[4:7] == "rws", "the group may write, and new files are the group's"
    assert first[kind]["file"] == f"{USER} {GROUP}"


def test_a_wrong_parameter_is_told_to_the_user(cluster, azure, core):
    before = azure.last_request()
    cluster.apply(storage_class("wrong", cachingMode="Sometimes"), claim("wrong", "wrong"))

    def complaints() -> list[str]:
        with cluster.inside("cp"):
            events = core.list_namespaced_event("default", field_selector="involvedObject.name=wrong")
        return [e.message for e in events.items if e.reason == "ProvisioningFailed"]

    message = until(complaints, "an event of the claim", interval=0.2)[0]
    for word in ("cachingMode", "Sometimes", "None", "ReadOnly"):
        assert word in message
    assert azure.accepted("disks.createOrUpdate", before) == []
    assert not any(entry["method"] == "PUT" for entry in azure.journal(before)), "not even a refused one"
    cluster.kubectl("delete", "pvc/wrong", "storageclass/wrong")
