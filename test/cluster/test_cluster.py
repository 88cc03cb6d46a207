"""Nodes, network, devices and images of a cluster are as its README says."""

import os
import socket
from pathlib import Path

import pytest
from image.archive import Image
from image.driver import driver

from .cluster import Cluster
from .images import busybox
from .node import Node
from .objects import WEB_SERVER, pod, service, spec
from .waiting import PATIENCE, until_it_works

READY = ("--for=condition=Ready", PATIENCE)


@pytest.fixture(scope="module")
def web(cluster: Cluster) -> dict[str, str]:
    """Pods web-node-a and web-node-b, each behind a service; the address of each node's service."""
    nodes = ("node-a", "node-b")
    for node in nodes:
        name = f"web-{node}"
        cluster.apply(pod(name, spec(WEB_SERVER, nodeName=node)), service(name))
    for node in nodes:
        cluster.kubectl("wait", f"pod/web-{node}", *READY)
    return {node: cluster.get("service", f"web-{node}")["spec"]["clusterIP"] for node in nodes}


def on_pod(cluster: Cluster, name: str, *command: str) -> str:
    return cluster.kubectl("exec", name, "--", *command).strip()


def test_nodes_look_like_azure_vms(cluster):
    for node in cluster.get("nodes")["items"]:
        name = node["metadata"]["name"]
        labels = node["metadata"]["labels"]
        assert labels["topology.kubernetes.io/region"] == "eastus"
        zone = "2" if name == "node-c" else "1"
        assert labels["topology.kubernetes.io/zone"] == f"eastus-{zone}"
        assert labels["node.kubernetes.io/instance-type"] == "Standard_D4s_v5"
        assert node["spec"]["providerID"] == f"azure://{cluster.nodes[name].vm_id()}"
        vm = next(vm for vm in cluster.vms() if vm["name"] == name)
        assert vm["zone"] == zone
        assert Path(vm["networkNamespace"]).exists() and Path(vm["deviceDirectory"]).is_dir()


def test_nodes_are_vms_of_all_kinds(cluster):
    ids = [node.vm_id().partition("/Microsoft.Compute/")[2] for node in cluster.nodes.values()]
    assert ids == ["virtualMachines/node-a", "virtualMachineScaleSets/pool/virtualMachines/1",
                   "virtualMachines/flexpool_00000002"]


def test_pods_of_two_nodes_reach_each_other_by_cluster_ip(cluster, web):
    for here, there in (("node-a", "node-b"), ("node-b", "node-a")):
        assert fetched(on_pod, cluster, f"web-{here}", web[there]) == f"web-{there}"


def test_machines_themselves_reach_cluster_ips(cluster, web):
    for machine in cluster.machines():
        assert fetched(machine.run, web["node-a"]) == "web-node-a"


def fetched(run, *arguments: str) -> str:
    """What the web server at the last argument says, once kube-proxy has learned of it."""
    *place, address = arguments
    command = ["busybox", "timeout", "2", "busybox", "wget", "-qO-", f"http://{address}"]
    return until_it_works(lambda: run(*place, *command), f"an answer of {address}").strip()


def test_a_socket_made_inside_stays_inside(cluster):
    outside = os.readlink("/proc/thread-self/ns/net")
    with cluster.inside("cp"):
        connection = socket.create_connection((cluster.network.address("cp"), 6443), timeout=5)
    assert os.readlink("/proc/thread-self/ns/net") == outside
    with connection:
        assert connection.getsockname()[0] == cluster.network.address("cp")


def test_a_privileged_pod_sees_the_disks_of_its_own_node_only(cluster, web):
    links = Path(cluster.vms()[0]["deviceDirectory"]) / "data/by-lun"
    links.mkdir(parents=True)
    (links / "7").symlink_to("/dev/loop0")
    seen = on_pod(cluster, "web-node-a", "readlink", "/dev/disk/azure/data/by-lun/7")
    assert seen == "/dev/loop0"
    assert on_pod(cluster, "web-node-b", "find", "/dev/disk/azure") == "/dev/disk/azure"
    (links / "7").unlink()
    assert on_pod(cluster, "web-node-a", "ls", "/dev/disk/azure/data/by-lun") == ""


def test_a_mount_of_a_pod_is_seen_on_its_node_and_nowhere_else(cluster):
    """As a node plug-in's mounts must be: once, or kubelet finds the volume in use elsewhere."""
    node = cluster.nodes["node-c"].machine
    node.run("mkdir", "/var/lib/kubelet/there")
    mounting = spec("mount -t tmpfs seen /kubelet/there; sleep 1000", nodeName=node.name)
    mounting["volumes"].append({"name": "kubelet", "hostPath": {"path": "/var/lib/kubelet"}})
    mounting["containers"][0]["volumeMounts"].append(
        {"name": "kubelet", "mountPath": "/kubelet", "mountPropagation": "Bidirectional"}
    )
    cluster.apply(pod("mounting", mounting))
    cluster.kubectl("wait", "pod/mounting", *READY)
    tables = {each.name: each.run("cat", "/proc/mounts") for each in cluster.machines()}
    counts = {name: table.count("seen ") for name, table in tables.items()}
    assert counts == {"cp": 0, "node-a": 0, "node-b": 0, "node-c": 1}
    assert "seen " not in Path("/proc/mounts").read_text()
    cluster.kubectl("delete", "pod", "mounting")
    node.run("umount", "/var/lib/kubelet/there")


def test_every_node_has_the_address_of_the_metadata_service(cluster):
    for node in cluster.nodes.values():
        assert "169.254.169.254/32" in node.machine.run("ip", "address", "show", "dev", "lo")


def test_the_host_keeps_its_kernel_settings(cluster):
    """kubelet sets some for the whole kernel; each node has files in their place."""
    machine = cluster.nodes["node-a"].machine
    assert machine.run("cat", "/proc/sys/kernel/random/boot_id").strip() == machine.boot_id()
    assert Path("/proc/sys/kernel/random/boot_id").read_text().strip() != machine.boot_id()
    machine.run("sh", "-c", "echo 11 >/proc/sys/kernel/panic")
    assert Path("/proc/sys/kernel/panic").read_text().strip() != "11"
    machine.run("sh", "-c", "echo 10 >/proc/sys/kernel/panic")


def test_the_drivers_image_carries_what_its_programs_need(cluster):
    image = driver("cluster.test/azuredisk:1", "1").image
    image.files["/bin/busybox"] = Path("/bin/busybox")
    cluster.load(image)
    tools = spec(
        "mkfs.ext4 -V; mkfs.xfs -V; e2fsck -V; xfs_repair -V; "
        "busybox test -s /etc/mke2fs.conf; echo complete",
        restartPolicy="Never",
    )
    tools["containers"][0]["image"] = image.name
    cluster.apply(pod("tools", tools))
    succeeded = "--for=jsonpath={.status.phase}=Succeeded"
    cluster.kubectl("wait", "pod/tools", succeeded, PATIENCE)
    assert "complete\n" in cluster.kubectl("logs", "tools"), "what goes to stderr may come later"
    cluster.kubectl("delete", "pod", "tools")


def test_an_image_is_imported_again_only_if_its_content_changed(cluster, tmp_path, monkeypatch):
    imports = []
    plain = Node.ctr

    def counted(node: Node, *words: str) -> str:
        imports.append(node.name)
        return plain(node, *words)

    monkeypatch.setattr(Node, "ctr", counted)
    content = tmp_path / "content"
    image = Image("cluster.test/changing:1", ["/content"], {"/content": content})
    for text, expected in (("one", 3), ("one", 3), ("two", 6), ("two", 6)):
        content.write_text(text)
        cluster.load(image)
        assert len(imports) == expected
    for node in cluster.nodes.values():
        assert "changing" in plain(node, "images", "list", "-q")


def test_the_same_content_makes_the_same_archive(tmp_path):
    for name in ("first", "second"):
        busybox().write(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
