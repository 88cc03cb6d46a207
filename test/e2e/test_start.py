"""docs/start.md, as somebody types it who has just installed the driver."""

from cluster import images
from cluster.waiting import until
from deployment.page import blocks

PAGE = "start.md"


def node(cluster) -> str:
    return cluster.get("pod", "clock-0")["spec"]["nodeName"]


def test_what_the_first_page_says(cluster, azure, terminal):
    cluster.load(images.busybox("docker.io/library/busybox:1.36"))
    apply, look = blocks(PAGE, "A volume on two nodes")
    terminal.type(apply)
    assert "Primary" in terminal.type(look)
    before, request = node(cluster), azure.last_request()
    [failover] = blocks(PAGE, "A failover")
    terminal.type(failover)
    volume = cluster.get("pvc", "data-clock-0")["spec"]["volumeName"]
    assert node(cluster) != before and azure.attach_calls(volume, request, vm=node(cluster)) == 0
    [end] = blocks(PAGE, "Clean up")
    terminal.type(end)
    until(azure.nothing_left, "nothing is left in Azure", interval=0.5)
