"""Every value of the chart is declared, does something, and is refused by its name when it is wrong."""

from functools import cache

import pytest

from .chart import (DEFAULTS, FAILOVER, SCHEDULER, SCHEMA, SECTIONS, VALUES, containers, is_about, nested, of_another_driver,
                    refusal, render)

SCHEDULERS = {"networkPolicy.schedulers": [{"ipBlock": {"cidr": "192.0.2.1/32"}}]}
POLICY = SCHEDULERS | {"networkPolicy.enabled": True}

ISSUED = {"placement.mode": "nominate", "placement.tls.issuerName": "issuer"}
SECRET = {"placement.mode": "nominate", "placement.tls.secretName": "webhook",
          "placement.tls.caBundle": "-----BEGIN CERTIFICATE-----\nMQ==\n-----END CERTIFICATE-----\n"}

METRICS_TLS = {"node.metrics.monitor.enabled": True, "metrics.tls.secretName": "metrics"}
METRICS_CLIENTS = {"metrics.tls.clientCASecretName": "clients", "metrics.tls.clientSecretName": "prometheus"}

# What a value has an effect with.
NEEDS = {
    "controller.leaseDuration": {"controller.leaseRenewDeadline": "5s"},
    "workloadIdentity.tenantID": {"workloadIdentity.clientID": "identity"},
    **{f"{part}.metrics.service.monitor.{name}": {f"{part}.metrics.service.enabled": True,
                                                  f"{part}.metrics.service.monitor.enabled": True}
       for part in ("controller", "schedulerExtender") for name in ("interval", "labels")},
    **{f"{part}.metrics.service.monitor.enabled": {f"{part}.metrics.service.enabled": True}
       for part in ("controller", "schedulerExtender")},
    **{f"node.metrics.monitor.{name}": {"node.metrics.monitor.enabled": True} for name in ("interval", "labels")},
    **{f"metrics.rules.{name}": {"metrics.rules.enabled": True} for name in ("labels", "runbooks", "disabled")},
    **{f"metrics.dashboards.{name}": {"metrics.dashboards.enabled": True} for name in ("labels", "annotations")},
    "metrics.tls.issuerKind": {"metrics.tls.issuerName": "issuer"},
    "metrics.tls.serverName": METRICS_TLS,
    **{name: METRICS_TLS | METRICS_CLIENTS for name in METRICS_CLIENTS},
    "controller.livenessProbe.healthPort": {"controller.hostNetwork": False},
    "networkPolicy.enabled": SCHEDULERS,
    "networkPolicy.metrics": POLICY,
    "networkPolicy.schedulers": POLICY,
    **{f"schedulerExtender.tls.{name}": {"schedulerExtender.tls.secretName": "extender",
                                         "schedulerExtender.tls.clientCASecretName": "callers"}
       for name in ("clientCASecretName", "serverName", "schedulerFiles.ca", "schedulerFiles.certificate",
                    "schedulerFiles.key")},
    **{name: SCHEDULER for name in (
        *(f"image.kubeScheduler.{part}" for part in ("repository", "tag", "digest", "pullPolicy")),
        "serviceAccount.scheduler", "schedulerExtender.kubeApiQps", "schedulerExtender.kubeApiBurst",
        *(f"schedulerExtender.scheduler.{name}" for name in ("replicas", "logLevel", "extraArgs", "resources")))},
    "schedulerExtender.scheduler.tls.secretName": SCHEDULER | {"schedulerExtender.tls.secretName": "extender",
                                                               "schedulerExtender.scheduler.tls.secretName": "scheduler"},
    **{f"placement.{name}": SECRET for name in ("schedulerNames", "excludedNamespaces", "port", "tls.issuerName")},
    "placement.tls.duration": {"placement.mode": "nominate"},
    **{f"placement.tls.{name}": ISSUED for name in ("secretName", "caBundle", "issuerKind")},
    "networkPolicy.apiServers": POLICY | SECRET,
    "failover.nodeLeaseDuration": FAILOVER,
    "failover.gracePeriod": FAILOVER,
    "failover.maxSilentPercent": FAILOVER,
    "image.baseRepo": {"image.azuredisk.repository": "/azuredisk-csi"},
    **{name: {"snapshot.enabled": True} for name in (
        *(f"image.{image}.{part}" for image in ("csiSnapshotter", "csiSnapshotController")
          for part in ("repository", "tag", "digest", "pullPolicy")),
        "serviceAccount.snapshotController", "controller.snapshotterWorkerThreads", "controller.snapshotterQps",
        "controller.snapshotterBurst", "controller.resources.csiSnapshotter",
        *(f"snapshot.snapshotController.{name}" for name in (
            "name", "replicas", "labels", "annotations", "podLabels", "podAnnotations", "resources")))},
    **{f"snapshot.VolumeSnapshotClass.{name}": {"snapshot.VolumeSnapshotClass.enabled": True}
       for name in ("name", "deletionPolicy", "parameters", "additionalLabels")},
    "storageClasses.storageClassNames.standardSSDZRS": {"storageClasses.enableZRS": True},
    "storageClasses.storageClassNames.premiumSSDZRS": {"storageClasses.enableZRS": True},
    "storageClasses.storageClassNames.ultraSSDLRS": {"storageClasses.enableUltraSSD": True},
    "storageClasses.storageClassNames.premiumV2LRS": {"storageClasses.enablePremiumV2": True},
}


def by_path(values):
    return pytest.mark.parametrize("value", values, ids=lambda value: value.path)


def paths(values: dict, prefix: str = "") -> set[str]:
    """As far as the schema goes down."""
    found = set()
    for name, value in values.items():
        path = f"{prefix}{name}"
        found |= paths(value, f"{path}.") if path in SECTIONS else {path}
    return found


def test_every_value_is_declared_and_has_a_default():
    assert paths(DEFAULTS) == {value.path for value in VALUES}


def described(schema: dict, path: str = ""):
    for name, member in schema.get("properties", {}).items() if "allOf" not in schema else ():
        if of_another_driver(member):  # files/other-drivers.yaml explains it
            continue
        yield f"{path}{name}", member
        yield from described(member, f"{path}{name}.")


def test_every_value_is_explained():
    assert not [path for path, schema in described(SCHEMA) if not schema.get("description")]


@by_path(VALUES)
def test_a_value_has_an_effect(value):
    needed = NEEDS.get(value.path, {})
    assert value.changed != value.default
    assert render(needed | {value.path: value.changed}) != render(needed)


@cache
def wrong_ones(number: int) -> str:
    """Of each value the wrong one of that number."""
    return refusal({value.path: value.wrong[number] for value in VALUES if number < len(value.wrong)})


@by_path(VALUES)
def test_a_wrong_value_is_refused_by_its_name(value):
    for number, wrong in enumerate(value.wrong):
        assert is_about(wrong_ones(number), value.path), f"{wrong} is taken"


@cache
def unknown_ones() -> str:
    return refusal({f"{section}.surprise".lstrip("."): 1 for section in SECTIONS})


@pytest.mark.parametrize("section", SECTIONS)
def test_an_unknown_value_is_refused_by_its_name(section):
    place = f"/{section.replace('.', '/')}" if section else ""
    assert f"- at '{place}': additional properties 'surprise' not allowed" in unknown_ones()


def sections_with_defaults(values: dict, prefix: str = "") -> list[str]:
    found = []
    for name, value in values.items():
        if f"{prefix}{name}" in SECTIONS:
            found += [f"{prefix}{name}", *sections_with_defaults(value, f"{prefix}{name}.")]
    return found


@cache
def missed_ones(depth: int) -> str:
    """Of the sections so deep, none is there."""
    return refusal({section: None for section in sections_with_defaults(DEFAULTS) if section.count(".") == depth})


@pytest.mark.parametrize("section", sections_with_defaults(DEFAULTS))
def test_a_section_that_is_missing_is_named(section):
    """As after `helm upgrade --reuse-values` from a chart that had not got it."""
    around, _, name = section.rpartition(".")
    place = f"/{around.replace('.', '/')}" if around else ""
    lines = map(str.strip, missed_ones(section.count(".")).splitlines())
    [line] = [line for line in lines if line.startswith(f"- at '{place}': missing")]
    assert f"'{name}'" in line


def test_a_registry_that_no_image_is_looked_for_in_is_refused():
    """But for Microsoft's, which values for their charts may name."""
    assert "image.baseRepo: registry.example.com has no effect" in refusal({"image.baseRepo": "registry.example.com"})
    assert render({"image.baseRepo": "mcr.microsoft.com"}) == render()
    used = render({"image.baseRepo": "registry.example.com", "image.csiResizer.repository": "/csi-resizer"})
    images = [container["image"] for container in containers(used) if container["name"] == "csi-resizer"]
    assert [image.rpartition(":")[0] for image in images] == ["registry.example.com/csi-resizer"]


def test_a_leader_that_would_outlast_its_lease_is_refused():
    reason = "controller.leaseRenewDeadline: 1.5m is not less than controller.leaseDuration (90s)"
    assert reason in refusal({"controller.leaseRenewDeadline": "1.5m", "controller.leaseDuration": "90s"})
    arguments = {"controller.leaseRenewDeadline": "999ms", "controller.leaseDuration": "1s"}
    assert "--leader-election-renew-deadline=999ms" in str(render(arguments))


def test_a_refusal_names_what_is_wrong_only():
    refused = refusal({"controller.replicas": "many"})
    assert [value.path for value in VALUES if is_about(refused, value.path)] == ["controller.replicas"]


def test_values_of_a_chart_around_this_one_are_let_through():
    assert render(nested({"global": {"anything": 1}})) == render()
