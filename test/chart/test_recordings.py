"""The series that the chart has Prometheus record: each is what it says, by Prometheus' own evaluation, and what asks for it is
answered whether there are rules or not."""

import re
from typing import NamedTuple

import pytest

from . import promtool, queries
from .alert_cases import PUBLISH, Series, growing, series, steady
from .chart import NAMESPACE, TREE
from .test_alerts import written

OTHER = {"pod": "b", "node": "m"}  # of the same job
OF_JOB = {"namespace": NAMESPACE, "job": "j"}


class Case(NamedTuple):
    given: list[Series]
    expected: list[tuple[dict[str, str], float]]  # labels and values, after ten minutes


def buckets(name: str, counts: dict[str, str], **labels: str) -> list[Series]:
    return [series(f"{name}_bucket", values, **labels, le=bound) for bound, values in counts.items()]


VOLUMES, LACKING = "azuredisk_volumes", "azuredisk_volumes_lacking_replicas"
FAILOVER, DISKS = "azuredisk_failover_duration_seconds", "azuredisk_azure_vm_update_disks"
BUDGET, ON_NODES, ATTACHED = "azuredisk_azure_budget_left", "azuredisk_replica_disks", "azuredisk_attachments"
# Ten failovers that one controller has seen, and ninety of another: 1 s to fence for ten, 4 to 5 s for the others.
FENCED = [*buckets(FAILOVER, {"1": steady(10), "5": steady(10), "+Inf": steady(10)}, phase="fence"),
          *buckets(FAILOVER, {"1": steady(0), "5": steady(90), "+Inf": steady(90)}, phase="fence", **OTHER)]
PUBLISHED = {"method_name": PUBLISH, "grpc_status_code": "0"}
REPLICAS = {"role": "Replica", "state": "Attached"}

CASES = {
    "namespace_job_state:azuredisk_volumes:max": Case(
        [series(VOLUMES, steady(7), state="Created"), series(VOLUMES, steady(7), state="Created", **OTHER),
         series(VOLUMES, steady(2), state="CreationFailed")],
        [(OF_JOB | {"state": "Created"}, 7), (OF_JOB | {"state": "CreationFailed"}, 2)]),
    "namespace_job:azuredisk_volumes_lacking_replicas:sum": Case(
        [series(LACKING, steady(3)), series(LACKING, steady(0), **OTHER)], [(OF_JOB, 3)]),
    "namespace_job_phase:azuredisk_failover_duration_seconds:p50": Case(
        FENCED, [(OF_JOB | {"phase": "fence"}, 1 + 4 * (50 - 10) / 90)]),
    "namespace_job_phase:azuredisk_failover_duration_seconds:p99": Case(
        FENCED, [(OF_JOB | {"phase": "fence"}, 1 + 4 * (99 - 10) / 90)]),
    "namespace_job_le:azuredisk_csi_operations_seconds_bucket:publish_rate5m": Case(
        [*buckets("azuredisk_csi_operations_seconds", {"1": growing(60), "+Inf": growing(120)}, **PUBLISHED),
         *buckets("azuredisk_csi_operations_seconds", {"1": growing(60), "+Inf": growing(60)}, **PUBLISHED, **OTHER),
         *buckets("azuredisk_csi_operations_seconds", {"1": growing(6000)}, method_name=PUBLISH, grpc_status_code="14"),
         *buckets("azuredisk_csi_operations_seconds", {"1": growing(6000)}, method_name="/csi.v1.Controller/CreateVolume",
                  grpc_status_code="0")],
        [(OF_JOB | {"le": "1"}, 2), (OF_JOB | {"le": "+Inf"}, 3)]),
    "namespace_job:azuredisk_azure_vm_update_disks:mean5m": Case(
        [series(f"{DISKS}_sum", growing(120)), series(f"{DISKS}_count", growing(60)),
         series(f"{DISKS}_sum", steady(0), job="idle"), series(f"{DISKS}_count", steady(0), job="idle")],
        [(OF_JOB, 2)]),
    "namespace_job_kind_scope:azuredisk_azure_budget_left:min": Case(
        [series(BUDGET, steady(12000), kind="read", scope="subscription"),
         series(BUDGET, steady(11000), kind="read", scope="subscription", **OTHER),
         series(BUDGET, steady(3), kind="write", scope="resource")],
        [(OF_JOB | {"kind": "read", "scope": "subscription"}, 11000), (OF_JOB | {"kind": "write", "scope": "resource"}, 3)]),
    # Two controllers know of the same eight.
    "namespace:azuredisk_replica_disks:ready_ratio": Case(
        [series(ATTACHED, steady(8), **REPLICAS), series(ATTACHED, steady(8), **REPLICAS, **OTHER),
         series(ATTACHED, steady(5), role="Primary", state="Attached"),
         series(ON_NODES, steady(1), state="not_ready", job="nodes"), series(ON_NODES, steady(4), state="held", job="nodes"),
         series(ON_NODES, steady(1), state="not_ready", job="nodes", **OTHER),
         series(ATTACHED, steady(1), **REPLICAS, namespace="gone"), series(ON_NODES, steady(2), state="not_ready", namespace="gone"),
         series(ATTACHED, steady(0), **REPLICAS, namespace="none"), series(ON_NODES, steady(0), state="not_ready", namespace="none")],
        [({"namespace": NAMESPACE}, 0.75), ({"namespace": "gone"}, 0)]),
}


def rules(values: dict | None = None) -> dict[str, dict]:
    return {rule["record"]: rule for group in queries.recordings(values) for rule in group["rules"]}


def evaluated(name: str, case: Case) -> dict:
    samples = [{"labels": f"{name}{{{','.join(f'{label}={text!r}' for label, text in labels.items())}}}", "value": value}
               for labels, value in case.expected]
    return {"interval": "1m", "input_series": [written(given) for given in case.given],
            "promql_expr_test": [{"expr": name, "eval_time": "10m", "exp_samples": samples}]}


def test_promtool_has_nothing_against_them():
    promtool.check_rules(queries.alerts() + queries.recordings())


def test_every_series_has_a_case():
    assert CASES.keys() == rules().keys() and all(case.expected for case in CASES.values())


@pytest.mark.parametrize("name", CASES)
def test_a_series_is_what_it_says(name):
    promtool.unit_test(queries.recordings(), [evaluated(name, CASES[name])])


def test_a_case_that_is_wrong_is_seen():
    name = "namespace:azuredisk_replica_disks:ready_ratio"
    wrong = CASES[name]._replace(expected=[({"namespace": NAMESPACE}, 0.5), ({"namespace": "gone"}, 0)])
    with pytest.raises(AssertionError, match="exp: .*azuredisk_replica_disks:ready_ratio.*5E-01"):
        promtool.unit_test(queries.recordings(), [evaluated(name, wrong)])


def test_its_name_says_its_labels():
    for name, rule in rules().items():
        level, metric, _ = name.split(":")
        kept = re.search(r"by \(([^)]*)\)", rule["expr"])[1].split(", ")
        if "histogram_quantile" in rule["expr"]:
            kept.remove("le")
        assert level.split("_") == kept and metric.startswith("azuredisk_")
        assert not [other for other in rules() if other != name and name in other], "replaced by its name in dashboards"


def test_their_groups_are_not_those_of_alerts():
    names = [group["name"] for group in queries.alerts() + queries.recordings()]
    assert len(set(names)) == len(names) and {"azdisk-controller.recorded", "all.recorded"} <= set(names)


# ---- who asks for them ----

def test_dashboards_ask_for_every_one_and_only_for_these():
    asked = {name for _, target in queries.targets(queries.RULES) for name in re.findall(r"\b[a-z_]+:\w+:\w+", target["expr"])}
    assert asked == rules().keys()


def test_without_rules_dashboards_ask_for_what_the_series_stand_for():
    with_rules, without = ([target["expr"] for _, target in queries.targets(values)] for values in (queries.RULES, None))
    known = {name: rule["expr"] for name, rule in rules().items()}
    for recorded, in_full in zip(with_rules, without, strict=True):
        for name, expression in known.items():
            recorded = recorded.replace(name, f"({expression})")
        assert recorded == in_full and not re.search(r"\b[a-z_]+:\w+:\w+", in_full)


def test_a_page_tells_of_each():
    text = (TREE / "docs/dashboards.md").read_text()
    assert re.findall(r"^\| `([\w:]+:\w+:\w+)` \|", text, re.MULTILINE) == list(rules())
