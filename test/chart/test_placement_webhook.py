"""The webhook that places pods where kube-scheduler cannot be configured: what the chart renders of it, and when."""

import base64
import json

import pytest

from .chart import containers, notes, of_kind, render, template

AUTHORITY = "-----BEGIN CERTIFICATE-----\nMQ==\n-----END CERTIFICATE-----\n"
SECRET = {"placement.tls.secretName": "webhook", "placement.tls.caBundle": AUTHORITY}
EXTENDER = "csi-azuredisk-scheduler-extender"
KINDS = ("MutatingWebhookConfiguration", "Secret", "Certificate")


def mode(name: str, **values) -> dict:
    return {"placement.mode": name} | SECRET | {path.replace("__", "."): value for path, value in values.items()}


def flags(objects: list[dict], program: str = "azdisk-scheduler-extender") -> dict[str, str]:
    [found] = [c["args"] for c in containers(objects) if c.get("command") == [f"/bin/{program}"]]
    return dict(flag.partition("=")[::2] for flag in found)


def webhook(objects: list[dict]) -> dict:
    [configuration] = of_kind(objects, "MutatingWebhookConfiguration")
    [hook] = configuration["webhooks"]
    return hook


def rules(objects: list[dict], account: str = f"{EXTENDER}-sa") -> list[dict]:
    roles = {(role["kind"], role["metadata"]["name"]): role["rules"]
             for kind in ("Role", "ClusterRole") for role in of_kind(objects, kind)}
    return [rule for kind in ("RoleBinding", "ClusterRoleBinding") for binding in of_kind(objects, kind)
            if binding["subjects"][0]["name"] == account
            for rule in roles[binding["roleRef"]["kind"], binding["roleRef"]["name"]]]


@pytest.mark.parametrize("name", ["extender", "none"])
def test_without_a_webhook_nothing_of_it_is_there(name):
    objects = render({"placement.mode": name})
    assert not [kind for kind in KINDS if list(of_kind(objects, kind))]
    assert not [o for o in objects if "placement" in o["metadata"]["name"]]
    assert not [rule for rule in rules(objects) if "pods" in rule["resources"]]
    assert "--placement" not in json.dumps(objects)


def test_none_installs_no_extender():
    assert not [o for o in render({"placement.mode": "none"}) if "scheduler" in o["metadata"]["name"]]
    assert "Pods are scheduled without regard to replicas (placement.mode: none)" in notes({"placement.mode": "none"})


@pytest.mark.parametrize("name", ["nominate", "webhook"])
def test_it_is_advice(name):
    hook = webhook(render(mode(name)))
    assert (hook["failurePolicy"], hook["timeoutSeconds"], hook["sideEffects"]) == ("Ignore", 2, "None")
    assert hook["rules"] == [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"],
                              "scope": "Namespaced"}]


def test_the_extender_serves_what_the_api_server_calls():
    objects = render(mode("nominate", placement__port=9443))
    service = webhook(objects)["clientConfig"]["service"]
    assert service == {"name": EXTENDER, "namespace": "kube-system", "path": "/placement", "port": 9443}
    assert flags(objects)["--placement-address"] == ":9443"
    [found] = [o for o in of_kind(objects, "Service") if o["metadata"]["name"] == EXTENDER]
    assert {"name": "placement", "port": 9443, "targetPort": "placement"} in found["spec"]["ports"]


def test_both_know_whose_pods_are_meant():
    objects = render(mode("webhook", placement__excludedNamespaces=["quiet"],
                          placement__schedulerNames=["default-scheduler", "batch"]), "storage")
    [selected] = webhook(objects)["namespaceSelector"]["matchExpressions"]
    assert selected == {"key": "kubernetes.io/metadata.name", "operator": "NotIn",
                        "values": ["kube-system", "storage", "azure-disk-csi", "quiet"]}
    assert flags(objects)["--placement-excluded-namespaces"] == "kube-system,storage,azure-disk-csi,quiet"
    [condition] = [c for c in webhook(objects)["matchConditions"] if c["name"] == "scheduler"]
    assert condition["expression"].endswith('in ["default-scheduler","batch"]')
    assert flags(objects)["--placement-scheduler-names"] == "default-scheduler,batch"


def test_only_gates_need_a_leader():
    for name, wanted in ("nominate", [["leases"]]), ("webhook", []):
        objects = render(mode(name))
        assert [rule["resources"] for rule in rules(objects) if "leases" in rule["resources"]] == wanted
        assert [rule["verbs"] for rule in rules(objects) if "pods" in rule["resources"]] == [["list", "watch", "patch"]]
    assert flags(objects)["--leader-election-name"] == "csi-azuredisk-controller"


def test_whoever_may_patch_pods_is_kept_to_gates():
    for name in "nominate", "webhook":
        [policy] = [o for o in of_kind(render(mode(name)), "ValidatingAdmissionPolicy")
                    if o["metadata"]["name"] == "azuredisk-placement"]
        [condition] = policy["spec"]["matchConditions"]
        assert f"system:serviceaccount:kube-system:{EXTENDER}-sa" in condition["expression"]


# ---- certificates ----

def test_a_certificate_that_the_leader_makes():
    """Neither the Secret nor the authority is rendered: what is applied again and again would take them away."""
    objects = render({"placement.mode": "nominate", "placement.tls.duration": "48h"}, "storage")
    assert not list(of_kind(objects, "Secret")) and "caBundle" not in webhook(objects)["clientConfig"]
    [configuration] = of_kind(objects, "MutatingWebhookConfiguration")
    said = flags(objects, "azdisk-controller")
    assert said["--placement-webhook"] == configuration["metadata"]["name"]
    assert said["--placement-certificate-secret"] == mounted(objects)
    assert said["--placement-certificate-duration"] == "48h"
    assert mount(objects)["optional"] is True
    assert objects == render({"placement.mode": "nominate", "placement.tls.duration": "48h"}, "storage")


def test_the_leader_may_write_that_secret_and_that_configuration():
    objects = render({"placement.mode": "webhook"})
    [configuration] = of_kind(objects, "MutatingWebhookConfiguration")
    found = [rule for rule in rules(objects, "csi-azuredisk-controller-sa")
             if rule["resources"][0] in ("secrets", "mutatingwebhookconfigurations") and
             rule.get("resourceNames") != ["azure-cloud-provider"]]
    assert found == [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [mounted(objects)], "verbs": ["get", "patch"]},
        {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["mutatingwebhookconfigurations"],
         "resourceNames": [configuration["metadata"]["name"]], "verbs": ["get", "patch"]}]
    [policy] = [o for o in of_kind(objects, "ValidatingAdmissionPolicy")
                if o["metadata"]["name"] == "azuredisk-placement-certificate"]
    [validation] = policy["spec"]["validations"]
    assert mounted(objects) in validation["expression"]


@pytest.mark.parametrize("values", [{"placement.mode": "extender"}, mode("nominate"),
                                    {"placement.mode": "nominate", "placement.tls.issuerName": "issuer"}],
                         ids=["no webhook", "a Secret of the user", "cert-manager"])
def test_nobody_else_needs_the_leader(values):
    objects = render(values)
    assert not [flag for flag in flags(objects, "azdisk-controller") if flag.startswith(("--placement-webhook", "--placement-cert"))]
    assert not [rule for rule in rules(objects, "csi-azuredisk-controller-sa")
                if "mutatingwebhookconfigurations" in rule["resources"] or rule["verbs"] == ["create"] and
                rule["resources"] == ["secrets"]]
    assert "placement-certificate" not in json.dumps(objects)
    if values["placement.mode"] != "extender":
        assert "optional" not in mount(objects)


def test_a_secret_of_the_user():
    objects = render(mode("nominate"))
    assert not list(of_kind(objects, "Secret")) and mounted(objects) == "webhook"
    assert base64.b64decode(webhook(objects)["clientConfig"]["caBundle"]).decode() == AUTHORITY


def test_a_certificate_of_cert_manager():
    objects = render({"placement.mode": "nominate", "placement.tls.issuerName": "issuer",
                      "placement.tls.issuerKind": "ClusterIssuer"})
    [certificate] = of_kind(objects, "Certificate")
    spec = certificate["spec"]
    assert spec["issuerRef"] == {"name": "issuer", "kind": "ClusterIssuer"}
    assert spec["dnsNames"] == [f"{EXTENDER}.kube-system.svc"] and mounted(objects) == spec["secretName"]
    [configuration] = of_kind(objects, "MutatingWebhookConfiguration")
    assert configuration["metadata"]["annotations"] == {
        "cert-manager.io/inject-ca-from": f"kube-system/{certificate['metadata']['name']}"}
    assert "caBundle" not in webhook(objects)["clientConfig"]


def mount(objects: list[dict]) -> dict:
    [deployment] = [o for o in of_kind(objects, "Deployment") if o["metadata"]["name"] == EXTENDER]
    [volume] = deployment["spec"]["template"]["spec"]["volumes"]
    return volume["secret"]


def mounted(objects: list[dict]) -> str:
    return mount(objects)["secretName"]


# ---- what makes no sense ----

@pytest.mark.parametrize("values, reason", [
    ({"placement.mode": "nominate", "schedulerExtender.enabled": False},
     "placement.mode: nominate requires schedulerExtender.enabled"),
    ({"placement.mode": "webhook", "placement.tls.secretName": "webhook"},
     "placement.tls.secretName requires placement.tls.caBundle"),
    ({"placement.mode": "webhook", "placement.tls.caBundle": AUTHORITY},
     "placement.tls.caBundle requires placement.tls.secretName or placement.tls.issuerName"),
], ids=["no extender", "no authority", "an authority of nothing"])
def test_what_could_not_work_is_refused(values, reason):
    done = template(values)
    assert done.returncode != 0 and reason in done.stderr


def test_a_policy_of_the_network_lets_the_api_server_in():
    values = mode("nominate", networkPolicy__enabled=True,
                  networkPolicy__apiServers=[{"ipBlock": {"cidr": "192.0.2.7/32"}}])
    [policy] = [o for o in of_kind(render(values), "NetworkPolicy") if o["metadata"]["name"] == EXTENDER]
    ports = {rule["ports"][0]["port"]: rule.get("from") for rule in policy["spec"]["ingress"]}
    assert ports == {"placement": [{"ipBlock": {"cidr": "192.0.2.7/32"}}], "metrics": None}
