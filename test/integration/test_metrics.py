"""What the programs serve at /metrics: as Prometheus' conventions have it, and all that alerts and dashboards look at."""

import re
import urllib.request
from pathlib import Path

import pytest
from azsim import simulator
from chart import promtool, queries
from cluster.waiting import until
from docs.metrics import OF_ANOTHER_DRIVER

from .calls import create, publish
from .driver_world import Controller, World
from .extender import Extender
from .node.machine import Machine
from .node.plugin import NodePlugin



@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    with World(tmp_path_factory.mktemp("metrics"), apiserver, attach="50ms", detach="50ms") as world:
        yield world


def of_controller(world: World) -> str:
    with Controller(world, "one", "--audit-interval=1s", "--heartbeat-limit=10m") as controller:
        def text() -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{controller.metrics}/metrics", timeout=30) as answer:
                assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                return answer.read().decode()

        publish(controller, create(controller).volume_id, world.nodes[0])
        until(lambda: value(text(), 'azuredisk_audit_scans_total{result="ok"}'), "a scan of the audit")
        until(lambda: value(text(), 'azuredisk_attachments{role="Replica",state="Attached"}') == 2, "the replicas")
        forget(world, world.nodes[2])
        until(lambda: value(text(), 'azuredisk_driver_nodes{state="silent"}') == 1, "a plug-in is silent")
        return text()


def forget(world: World, node: str) -> None:
    """Nothing has been heard of its plug-in for long."""
    world.patch("azdrivernodes", node, {"status": {"lastHeartbeatTime": "2026-01-01T00:00:00Z"}}, status=True)


def of_node(world: World, folder: Path) -> str:
    node = world.nodes[0]
    machine = Machine()
    machine.reach(world.apiserver.port)
    plugin = NodePlugin(machine, folder, world.apiserver.kubeconfig, node)
    try:
        plugin.run(f"--object-namespace={world.namespace}")
        return plugin.get("/metrics")[1]
    finally:
        plugin.close()
        machine.close()


def of_extender(world: World) -> str:
    log = world.folder / "extender.log"
    with Extender(log, f"--object-namespace={world.namespace}", kubeconfig=world.apiserver.kubeconfig) as extender:
        extender.until_ready()
        extender.scores([], world.nodes)
        return extender.request("GET", "/metrics", port=extender.metrics_port)[1].decode()


@pytest.fixture(scope="module")
def scrapes(world, tmp_path_factory):
    return {"azdisk-controller": of_controller(world), "azdisk-node": of_node(world, tmp_path_factory.mktemp("node")),
            "azdisk-scheduler-extender": of_extender(world)}


def value(scrape: str, series: str) -> float:
    return next((float(line.rpartition(" ")[2]) for line in scrape.splitlines() if line.startswith(series + " ")), 0)


def series_of(scrape: str) -> set[str]:
    """All that can be asked for, whether it has a value by now or not."""
    endings = {"counter": [""], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}
    types = re.findall(r"^# TYPE (\w+) (\w+)$", scrape, re.MULTILINE)
    return {name + ending for name, kind in types for ending in endings[kind]}


@pytest.mark.parametrize("program", ("azdisk-controller", "azdisk-node", "azdisk-scheduler-extender"))
def test_promtool_has_nothing_against_them(scrapes, program):
    scrape = scrapes[program]
    assert promtool.complaints(scrape.replace("azuredisk_build_info", "azuredisk_buildInfo")), "it sees what is wrong"
    complaints = promtool.complaints(scrape).splitlines()
    assert not [line for line in complaints if not line.startswith(OF_ANOTHER_DRIVER)]


def test_all_that_is_looked_at_is_served(scrapes):
    served = {name for scrape in scrapes.values() for name in series_of(scrape)}
    assert not sorted(queries.metrics() - served)


def test_alerts_are_grouped_by_the_program_that_serves_what_they_look_at(scrapes):
    for group in queries.alerts():
        if group["name"] != "all":
            for rule in group["rules"]:
                assert queries.metrics_of(rule["expr"]) <= series_of(scrapes[group["name"]]), rule["alert"]


def test_counters_of_rare_events_begin_at_zero(scrapes):
    """Whoever watches whether they grow would not see their first value."""
    for program, *counters in (
        ("azdisk-controller", 'azuredisk_failovers_total{result="held back"}', 'azuredisk_failovers_total{result="released"}',
         'azuredisk_failover_duration_seconds_count{phase="fence"}',
         'azuredisk_azure_requests_total{kind="vm_update",result="Throttled"}',
         'azuredisk_azure_requests_total{kind="disk_write",result="ResourceExhausted"}',
         'azuredisk_azure_retries_total{kind="vm_update",reason="throttled"}'),
        ("azdisk-node", 'azuredisk_disk_proofs_total{verdict="refused"}', 'azuredisk_fences_total{result="refused"}',
         'azuredisk_fences_total{result="lost"}', 'azuredisk_heartbeats_total{result="failed"}',
         'azuredisk_node_lease_writes_total{result="failed"}', 'azuredisk_preempt_requests_total{result="refused"}'),
    ):
        for counter in counters:
            assert f"\n{counter} 0\n" in scrapes[program]


def test_nodes_are_counted_by_their_heartbeats(scrapes):
    assert value(scrapes["azdisk-controller"], 'azuredisk_driver_nodes{state="alive"}') == 2


def test_calls_and_requests_are_counted_by_the_names_of_the_azure_disk_csi_driver(scrapes):
    home = f'resource_group="{simulator.GROUP.lower()}",subscription_id="{simulator.SUBSCRIPTION}"'
    for series in (
        'azuredisk_csi_driver_operations_total{operation="controller_create_volume",success="true"}',
        'azuredisk_csi_driver_operation_duration_seconds_count{operation="controller_publish_volume",success="true"}',
        'cloudprovider_azure_op_duration_seconds_count'
        f'{{request="azuredisk_csi_driver_controller_publish_volume",{home},source="disk.csi.azure.com"}}',
        f'cloudprovider_azure_api_request_duration_seconds_count{{request="disks_create_or_update",{home},source=""}}',
    ):
        assert value(scrapes["azdisk-controller"], series) == 1, series
    update = f'cloudprovider_azure_api_request_duration_seconds_count{{request="vm_update",{home},source=""}}'
    assert value(scrapes["azdisk-controller"], update) == 3
