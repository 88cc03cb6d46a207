"""Pages of docs about one volume, as somebody types them who has a database on it. test_start.py and test/moves type others."""

import pytest
from cluster.waiting import PATIENCE, until
from deployment.page import blocks

from .every_volume import PATH, claim, container, storage_class
from .fleet import PRIMARY, REPLICA
from .test_growth import ONLINE_SECONDS, RETRY_SECONDS, capacity, pending
from .test_modify import performance

CLAIM, DATABASE, POD = "data", "database", "database-0"  # as the pages call them


def database() -> dict:
    pod = {"terminationGracePeriodSeconds": 0, "containers": [container("c", volumeMounts=[{"name": "v", "mountPath": PATH}])],
           "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": CLAIM}}]}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": DATABASE},
            "spec": {"serviceName": DATABASE, "replicas": 1, "selector": {"matchLabels": {"app": DATABASE}},
                     "template": {"metadata": {"labels": {"app": DATABASE}}, "spec": pod}}}


@pytest.fixture(scope="module")
def volume(cluster, azure, driver) -> str:
    """With a replica; its file system grows wherever tests run."""
    wanted = claim(CLAIM, "pages")
    wanted["spec"]["resources"]["requests"]["storage"] = "100Gi"
    cluster.apply(storage_class("pages", skuName="PremiumV2_LRS", maxShares="2", fsType="xfs"), wanted, database())
    name = until(lambda: cluster.get("pvc", CLAIM)["spec"].get("volumeName"), "the volume", 60)
    until(lambda: sorted(driver.roles(name).values()) == [PRIMARY, REPLICA], "its replica")
    wait_ready(cluster)
    yield name
    cluster.kubectl("delete", "statefulset,pvc", "--all", PATIENCE)
    cluster.kubectl("delete", "storageclass", "pages")
    cluster.kubectl("delete", "volumeattributesclass", "fast", "--ignore-not-found")
    driver.until_nothing_is_left()


def wait_ready(cluster) -> None:
    cluster.kubectl("wait", f"pod/{POD}", "--for=create", "--timeout=60s")
    cluster.kubectl("wait", f"pod/{POD}", "--for=condition=Ready", PATIENCE)


@pytest.mark.parametrize(("page", "heading", "words"), [
    ("install.md", "Use", ("azvolume.disk.csi.azure.com/{volume}", "azdrivernode.disk.csi.azure.com/node-a")),
    ("fencing.md", "What you see", ("FENCE", "Primary")),
    ("replicas.md", "Ready replicas", ("READY", "Replica")),
])
def test_what_a_look_shows(terminal, volume, page, heading, words):
    [look] = blocks(page, heading)
    shown = terminal.type(look)
    assert all(word.format(volume=volume) in shown for word in words), shown


def test_a_volume_is_made_faster(cluster, azure, terminal, volume):
    [attributes_class], [choose] = blocks("modifying.md", language="yaml"), blocks("modifying.md")
    cluster.kubectl("apply", "-f", "-", input=attributes_class)
    terminal.type(choose)
    until(lambda: performance(azure, volume) == (8000, 400), "the disk is faster", 60, interval=0.3)
    [progress] = blocks("modifying.md", "A conversion to PremiumV2_LRS")
    assert terminal.type(progress) == "", "nothing is converted"


def test_a_volume_is_made_larger(cluster, terminal, volume):
    """Its disk is shared, so it waits, and by then less is enough."""
    more, look_again = blocks("growing.md")
    terminal.type(more)
    which = f"involvedObject.name={CLAIM},reason=VolumeResizeFailed"
    until(lambda: any("scaled to 0" in event["message"] for event in cluster.get("events", "--field-selector", which)["items"]),
          "an event of the claim says what it waits for", RETRY_SECONDS, interval=0.3)
    [less] = blocks("growing.md", "Taking a request back")
    terminal.type(less)
    [grow] = blocks("growing.md", "When a disk grows")
    assert "condition met" in terminal.type(grow)
    wait_ready(cluster)
    until(lambda: pending(cluster, CLAIM, "110Gi"), "the claim knows of it", RETRY_SECONDS, interval=0.3)
    terminal.type(look_again)
    until(lambda: capacity(cluster, CLAIM) == "110Gi", "the claim has its size", ONLINE_SECONDS, interval=0.3)
