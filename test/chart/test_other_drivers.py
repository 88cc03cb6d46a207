"""Values of the other drivers' charts: each is decided in one table, and this chart does what the table says.

How many there are of each kind is in build/reports/install.json afterwards.
"""

import json
import re
from functools import cache

import pytest
import report

from .chart import (SECTIONS, SNAPSHOTS, TREE, VALUES, containers, is_about, nested, notes, of_kind, refusal, render,
                    template)
from .other_drivers import CHARTS, CLASSES, ROWS, decided, in_the_schema, of_class, whole
from .test_chart import command, unknown_flag
from .test_values import NEEDS

REPORT = TREE / "build" / "reports" / "install.json"
MOST_REFUSED = 5

by_path = {value.path: value for value in VALUES}
each_chart = pytest.mark.parametrize("chart", CHARTS)


def each(rows):
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.path)


# ---- the table ----

@each_chart
def test_every_value_is_decided(chart):
    counts = decided(chart)
    assert sum(counts.values()) == CHARTS[chart]
    assert counts["refused"] <= MOST_REFUSED
    report.merge(REPORT, {f"values_{chart}": counts})


def test_each_is_decided_once_and_for_a_reason():
    paths = [row.path for row in ROWS]
    assert len(set(paths)) == len(paths)
    assert not [row.path for row in ROWS if row.decision not in CLASSES or not row.why.endswith(".")]
    within = {path for path in paths for other in paths if path.startswith(f"{other}.")}
    assert not within, "decided with what it is in as well"


def test_the_schema_accepts_just_these_names_of_others():
    without_effect = {row.path for row in ROWS if row.to or row.decision in ("ignored", "refused")}
    assert in_the_schema() == without_effect
    own = {row.path for row in ROWS} - without_effect
    assert own <= by_path.keys(), "values with an effect are this chart's own: test_values.py tests them"
    assert {row.to for row in ROWS if row.to} <= by_path.keys()


# ---- whole sets of values ----

@each_chart
def test_a_whole_set_of_values_is_taken(chart):
    """As it is by default, there is nothing to say of it but of Microsoft's image."""
    objects = render(whole(chart))
    assert {document["kind"] for document in objects} >= {"Deployment", "DaemonSet", "CSIDriver"}
    text = notes(whole(chart))
    assert "have no effect" not in text and "have another name" not in text
    assert "is another program" in text


@each_chart
def test_programs_know_the_flags_that_come_of_it(chart):
    """Feature gates, too; of the sidecars that this chart is tested with."""
    found = [unknown_flag(command(container)) for container in containers(render(whole(chart) | SNAPSHOTS))]
    assert found == ["no-such-flag"] * 8


def test_values_for_a_driver_beside_another_are_taken():
    values = {
        "serviceAccount.controller": "csi-azuredisk2-controller-sa", "serviceAccount.node": "csi-azuredisk2-node-sa",
        "serviceAccount.snapshotController": "csi2-snapshot-controller-sa", "rbac.name": "azuredisk2",
        "controller.name": "csi-azuredisk2-controller", "controller.metrics.port": 29624,
        "controller.livenessProbe.healthPort": 29623, "node.metrics.port": 29625, "node.livenessProbe.healthPort": 29627,
        "snapshot.enabled": True, "snapshot.createCRDs": False, "snapshot.name": "csi-azuredisk2-snapshot-controller",
        "snapshot.snapshotController.name": "csi-azuredisk2-snapshot-controller", "driver.name": "disk2.csi.azure.com",
        "linux.dsName": "csi-azuredisk2-node", "windows.dsName": "csi-azuredisk2-node-win", "storageClasses.enableZRS": True}
    workloads = {d["metadata"]["name"] for kind in ("Deployment", "DaemonSet") for d in of_kind(render(values), kind)}
    assert workloads >= {"csi-azuredisk2-controller", "csi-azuredisk2-node", "csi-azuredisk2-snapshot-controller"}
    assert "csi-snapshot-controller" not in workloads
    assert told("have no effect", values) == {"snapshot.createCRDs", "snapshot.name", "windows.dsName"}


def test_values_that_are_null_are_not_set():
    """As half of those are in the chart of version 2, and as `--set x=null` has it."""
    empty = {row.path: None for row in of_class("ignored") + of_class("refused")}
    assert render(empty) == render()
    assert "have no effect" not in notes(empty)


# ---- one by one ----

def told(heading: str, values: dict) -> set[str]:
    """Of which values the notes speak under this heading, one a line."""
    _, found, rest = notes(values).partition(heading)
    assert found, f"{heading}?"
    paragraph = rest.partition("\n\n")[0]
    return set(re.findall(r"^  ([\w.]+): \S.*\.?$", paragraph, re.M))


def test_each_value_without_effect_is_told_of():
    rows = of_class("ignored")
    values = {row.path: row.changed for row in rows}
    assert told("have no effect", values) == set(values)
    text = notes(values)
    assert not [row.path for row in rows if f"  {row.path}: {row.why}\n" not in f"{text}\n"]
    assert installed(values) == installed({}), "they have none"


def installed(values: dict) -> list[dict]:
    """What an installation has; what Helm would delete of Microsoft's is looked for by the name that it has there."""
    return [d for d in render(values) if "helm.sh/hook" not in d["metadata"].get("annotations", {})]


@each([row for row in of_class("ignored") if isinstance(row.changed, dict)])
def test_of_an_object_the_part_that_is_set_counts(row):
    """Helm's users set one member of it."""
    for name, value in next(iter(row.defaults.values())).items():
        assert "have no effect" not in notes({f"{row.path}.{name}": value})
    assert told("have no effect", {f"{row.path}.other": "value"}) == {row.path}


@each(of_class("refused"))
def test_a_refused_value_fails_with_the_reason(row):
    done = template({row.path: row.changed})
    assert done.returncode != 0
    assert f"{row.path}: {row.why}" in done.stderr and "docs/other-drivers.md" in done.stderr


@each([row for row in ROWS if row.to])
def test_another_name_has_the_same_effect(row):
    here, needs = by_path[row.to], NEEDS.get(row.to, {})
    renamed = render(needs | {row.path: here.changed})
    assert renamed == render(needs | {row.to: here.changed}) != render(needs)
    assert told("have another name", {row.path: here.changed}) == {row.path}
    assert f"{row.path}: it is {row.to} here" in notes({row.path: here.changed})


@cache
def wrong_ones(number: int) -> str:
    """Of each value that has another name here the wrong one of that number."""
    wrong = {row.path: by_path[row.to].wrong for row in ROWS if row.to}
    return refusal({path: values[number] for path, values in wrong.items() if number < len(values)})


@each([row for row in ROWS if row.to])
def test_another_name_has_the_same_limits(row):
    for number, wrong in enumerate(by_path[row.to].wrong):
        assert is_about(wrong_ones(number), row.path), f"{wrong} is taken"


def words(value: object) -> set[str]:
    """All names and texts in it."""
    if isinstance(value, dict):
        return {word for name, member in value.items() for word in {name} | words(member)}
    if isinstance(value, list):
        return {word for member in value for word in words(member)}
    return set() if isinstance(value, bool) or value is None else {str(value)}


@each([row for row in of_class("honoured") if not isinstance(by_path[row.path].default, bool)])
def test_an_honoured_value_is_in_what_is_rendered(row):
    """Those that are yes or no change something: test_values.py."""
    value, needs = by_path[row.path].changed, NEEDS.get(row.path, {})
    text = json.dumps(render(needs | {row.path: value}))
    assert not [word for word in words(value) if word not in text]


@pytest.mark.parametrize("section", sorted({path.rpartition(".")[0] for path in in_the_schema()}))
def test_typos_are_found_among_the_names_of_others_too(section):
    assert section in SECTIONS  # test_values.py puts a surprise into each


# ---- what is neither the same nor nothing ----

OWN = [d["spec"]["template"]["spec"]["containers"][0]["image"] for d in of_kind(render(), "DaemonSet")]


def image_of(values: dict) -> list[str]:
    return [d["spec"]["template"]["spec"]["containers"][0]["image"] for d in of_kind(render(values), "DaemonSet")]


@pytest.mark.parametrize("repository", [
    "/oss/kubernetes-csi/azuredisk-csi", "/oss/v2/kubernetes-csi/azuredisk-csi", "/k8s/csi/azuredisk-csi",
    "mcr.microsoft.com/oss/kubernetes-csi/azuredisk-csi", "mcr.azk8s.cn/oss/v2/kubernetes-csi/azuredisk-csi"])
def test_microsofts_image_is_not_run(repository):
    """Whatever its version: its programs are others."""
    values = {"image.azuredisk.repository": repository, "image.azuredisk.tag": "v1.33.2"}
    assert image_of(values) == OWN
    assert repository in notes(values) and OWN[0] in notes(values)


def test_any_other_image_is():
    values = {"image.azuredisk.repository": "registry.example.com/oss/kubernetes-csi/azuredisk-csi", "image.azuredisk.tag": "v9"}
    assert image_of(values) == ["registry.example.com/oss/kubernetes-csi/azuredisk-csi:v9"]
    assert "another program" not in notes(values)


def test_the_snapshot_class_of_version_1():
    """Its parameters may be empty, and have quotation marks of their own."""
    name = "snapshot.VolumeSnapshotClass.parameters"
    values = {"snapshot.VolumeSnapshotClass.enabled": True, name: whole("v1")[name]}
    [found] = of_kind(render(values), "VolumeSnapshotClass")
    assert found["parameters"] == {"incremental": "true"}
    [found] = of_kind(render(values | {name: {"tags": 'a="b"', "resourceGroup": "group"}}), "VolumeSnapshotClass")
    assert found["parameters"] == {"tags": 'a="b"', "resourceGroup": "group"}


def test_the_storage_classes_are_those_of_version_2():
    """Nothing but its labels can be changed in a StorageClass that exists."""
    rows = {"azuredisk-standard-hdd-lrs": ("Standard_LRS", False), "azuredisk-standard-ssd-lrs": ("StandardSSD_LRS", True),
            "azuredisk-premium-ssd-lrs": ("Premium_LRS", True), "azuredisk-ultra-ssd-lrs": ("UltraSSD_LRS", True),
            "azuredisk-standard-ssd-zrs": ("StandardSSD_ZRS", True), "azuredisk-premium-ssd-zrs": ("Premium_ZRS", True)}
    expected = {}
    for name, (sku, shared) in rows.items():
        common = {"provisioner": "disk.csi.azure.com", "reclaimPolicy": "Delete", "allowVolumeExpansion": True,
                  "volumeBindingMode": "Immediate" if sku.endswith("ZRS") else "WaitForFirstConsumer"}
        expected[name] = common | {"parameters": {"skuName": sku}}
        if shared:
            expected[f"{name}-replicas"] = common | {"parameters": {"skuName": sku, "maxShares": "3"}}
    values = whole("v2") | {"storageClasses.enableZRS": True, "storageClasses.enableUltraSSD": True}
    found = {d["metadata"]["name"]: {key: d[key] for key in d if key not in ("apiVersion", "kind", "metadata")}
             for d in of_kind(render(values), "StorageClass")}
    assert found == expected
    assert not [d for d in of_kind(render(values), "StorageClass") if "annotations" in d["metadata"]]


def test_a_chart_around_this_one_may_set_them_too():
    assert template(nested({"windows.enabled": False})).returncode == 0
