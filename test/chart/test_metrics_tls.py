"""Metrics over TLS: the certificate of all programs, and what Prometheus is told of it."""

import pytest

from .chart import containers, of_kind, render, template

PROGRAMS = ("azdisk-controller", "azdisk-node", "azdisk-scheduler-extender")
MONITORED = {"node.metrics.monitor.enabled": True, **{
    f"{part}.metrics.service{name}.enabled": True for part in ("controller", "schedulerExtender") for name in ("", ".monitor")}}
TLS = {"metrics.tls.secretName": "metrics"}
CLIENTS = TLS | {"metrics.tls.clientCASecretName": "clients", "metrics.tls.clientSecretName": "prometheus"}
SERVER = "csi-azuredisk-metrics.kube-system.svc"


def pods(values: dict) -> dict[str, tuple[dict, dict]]:
    """Pod and container of each program that serves metrics."""
    found = {}
    for document in of_kind(render(values), "Deployment") + of_kind(render(values), "DaemonSet"):
        pod = document["spec"]["template"]["spec"]
        for container in pod["containers"]:
            if (name := container.get("command", ["/"])[0].rpartition("/")[2]) in PROGRAMS:
                found[name] = pod, container
    assert set(found) == set(PROGRAMS)
    return found


def flags(container: dict) -> dict[str, str]:
    return dict(word.removeprefix("--").split("=", 1) for word in container["args"])


def read(pod: dict, container: dict, path: str) -> tuple[str, str]:
    """The Secret, and its key, behind a file of the container."""
    folder, _, file = path.rpartition("/")
    [mount] = [mount for mount in container["volumeMounts"] if mount["mountPath"] == folder]
    assert mount["readOnly"]
    [volume] = [volume["secret"] for volume in pod["volumes"] if volume["name"] == mount["name"]]
    [key] = [item["key"] for item in volume["items"] if item["path"] == file]
    return volume["secretName"], key


def endpoints(values: dict) -> list[dict]:
    """Of all monitors."""
    objects = render(MONITORED | values)
    found = [e for d in of_kind(objects, "ServiceMonitor") for e in d["spec"]["endpoints"]]
    found += [e for d in of_kind(objects, "PodMonitor") for e in d["spec"]["podMetricsEndpoints"]]
    assert len(found) == 3
    return found


def refusal(values: dict) -> str:
    done = template(values)
    assert done.returncode != 0
    return done.stderr


def test_there_is_none_by_default():
    assert "metrics-tls" not in str(render(MONITORED)) and "tlsConfig" not in str(render(MONITORED))


def test_every_program_has_the_certificate():
    for pod, container in pods(TLS).values():
        words = flags(container)
        assert read(pod, container, words["metrics-tls-cert-file"]) == ("metrics", "tls.crt")
        assert read(pod, container, words["metrics-tls-key-file"]) == ("metrics", "tls.key")
        assert "metrics-client-ca-file" not in words


def test_every_program_asks_readers_for_theirs():
    for pod, container in pods(CLIENTS).values():
        assert read(pod, container, flags(container)["metrics-client-ca-file"]) == ("clients", "ca.crt")
        assert "prometheus" not in str(pod["volumes"]), "the readers' key is for Prometheus alone"


@pytest.mark.parametrize("host", (True, False))
def test_kubelet_asks_elsewhere(host):
    """It has no certificate to present."""
    for _, container in pods(CLIENTS | {"controller.hostNetwork": host, "linux.hostNetwork": host}).values():
        words = flags(container)
        metrics = words["metrics-address"].rpartition(":")[2]
        for probe in (container["livenessProbe"], container["readinessProbe"]):
            if "exec" in probe:
                assert f"--address={words['health-address']}" in probe["exec"]["command"]
            else:
                port = str(probe["httpGet"]["port"])
                assert port == words["health-address"].rpartition(":")[2] and port != metrics
                assert "scheme" not in probe["httpGet"]


def test_prometheus_verifies_what_it_scrapes():
    for endpoint in endpoints(TLS):
        assert endpoint["scheme"] == "https"
        assert endpoint["tlsConfig"] == {"serverName": SERVER, "ca": {"secret": {"name": "metrics", "key": "ca.crt"}}}
    for endpoint in endpoints(TLS | {"metrics.tls.serverName": "other.example.com"}):
        assert endpoint["tlsConfig"]["serverName"] == "other.example.com"


def test_prometheus_presents_a_certificate():
    for endpoint in endpoints(CLIENTS):
        assert endpoint["tlsConfig"] == {
            "serverName": SERVER, "ca": {"secret": {"name": "metrics", "key": "ca.crt"}},
            "cert": {"secret": {"name": "prometheus", "key": "tls.crt"}}, "keySecret": {"name": "prometheus", "key": "tls.key"}}


def test_an_issuer_makes_the_secret_that_is_mounted():
    for values, name in ({}, "csi-azuredisk-metrics"), (TLS, "metrics"):
        values = values | {"metrics.tls.issuerName": "issuer", "metrics.tls.issuerKind": "ClusterIssuer"}
        [certificate] = of_kind(render(values), "Certificate")
        assert certificate["spec"] == {"secretName": name, "dnsNames": [SERVER],
                                       "issuerRef": {"name": "issuer", "kind": "ClusterIssuer"}}
        for pod, container in pods(values).values():
            assert read(pod, container, flags(container)["metrics-tls-key-file"]) == (name, "tls.key")


def test_two_drivers_have_certificates_of_their_own():
    names = {of_kind(render({"metrics.tls.issuerName": "issuer"} | other), "Certificate")[0]["spec"]["secretName"]
             for other in ({}, {"driver.name": "other.disk.example"})}
    assert len(names) == 2


def test_contradictions_are_refused():
    assert "metrics.tls.secretName or metrics.tls.issuerName" in refusal({"metrics.tls.clientCASecretName": "clients"})
    assert "requires metrics.tls.clientCASecretName" in refusal(TLS | {"metrics.tls.clientSecretName": "prometheus"})
    alone = TLS | {"metrics.tls.clientCASecretName": "clients"}
    for monitor in ({"node.metrics.monitor.enabled": True},
                    {"controller.metrics.service.enabled": True, "controller.metrics.service.monitor.enabled": True}):
        assert "requires metrics.tls.clientSecretName" in refusal(alone | monitor)
    assert render(alone), "who has no operator scrapes by other means"


def test_only_the_programs_of_the_driver_have_it():
    """The sidecars serve no metrics."""
    for container in containers(render(CLIENTS)):
        if container.get("command", ["/"])[0].rpartition("/")[2] not in PROGRAMS:
            assert "metrics-tls" not in str(container)
