"""Every value of the chart is declared, does something, and is refused by its name when it is wrong."""

import pytest

from .chart import (DEFAULTS, FAILOVER, SCHEMA, SECTIONS, VALUES, nested, of_another_driver, render, template)

SCHEDULERS = {"networkPolicy.schedulers": [{"ipBlock": {"cidr": "192.0.2.1/32"}}]}
POLICY = SCHEDULERS | {"networkPolicy.enabled": True}

# With a certificate that is not another one each time.
ISSUED = {"placement.mode": "nominate", "placement.tls.issuerName": "issuer"}
SECRET = {"placement.mode": "nominate", "placement.tls.secretName": "webhook",
          "placement.tls.caBundle": "-----BEGIN CERTIFICATE-----\nMQ==\n-----END CERTIFICATE-----\n"}

# What a value has an effect with.
NEEDS = {
    "workloadIdentity.tenantID": {"workloadIdentity.clientID": "identity"},
    **{f"{part}.metrics.service.monitor.{name}": {f"{part}.metrics.service.enabled": True,
                                                  f"{part}.metrics.service.monitor.enabled": True}
       for part in ("controller", "schedulerExtender") for name in ("interval", "labels")},
    **{f"{part}.metrics.service.monitor.enabled": {f"{part}.metrics.service.enabled": True}
       for part in ("controller", "schedulerExtender")},
    **{f"node.metrics.monitor.{name}": {"node.metrics.monitor.enabled": True} for name in ("interval", "labels")},
    **{f"metrics.rules.{name}": {"metrics.rules.enabled": True} for name in ("labels", "runbooks", "disabled")},
    **{f"metrics.dashboards.{name}": {"metrics.dashboards.enabled": True} for name in ("labels", "annotations")},
    "controller.livenessProbe.healthPort": {"controller.hostNetwork": False},
    "networkPolicy.enabled": SCHEDULERS,
    "networkPolicy.metrics": POLICY,
    "networkPolicy.schedulers": POLICY,
    **{f"schedulerExtender.tls.{name}": {"schedulerExtender.tls.secretName": "extender",
                                         "schedulerExtender.tls.clientCASecretName": "callers"}
       for name in ("clientCASecretName", "serverName", "schedulerFiles.ca", "schedulerFiles.certificate",
                    "schedulerFiles.key")},
    **{f"placement.{name}": SECRET for name in ("schedulerNames", "excludedNamespaces", "port", "tls.issuerName")},
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


@by_path(VALUES)
def test_a_wrong_value_is_refused_by_its_name(value):
    for wrong in value.wrong:
        done = template({value.path: wrong})
        assert done.returncode != 0, f"{wrong} is taken"
        assert f"'/{value.path.replace('.', '/')}'" in done.stderr


@pytest.mark.parametrize("section", SECTIONS)
def test_an_unknown_value_is_refused_by_its_name(section):
    done = template({f"{section}.surprise".lstrip("."): 1})
    assert done.returncode != 0
    assert f"at '{'/' + section.replace('.', '/') if section else ''}': additional properties 'surprise'" in done.stderr


def test_values_of_a_chart_around_this_one_are_let_through():
    assert render(nested({"global": {"anything": 1}})) == render()
