"""The certificate of the webhook that Helm makes: it is right for the extender's Service, and stays when Helm runs again."""

import base64
import json
import subprocess

import pytest
import yaml
from chart.chart import CHART, of_kind
from cluster import tools
from kubernetes import client

NAMESPACE = "certificate"
HOST = f"csi-azuredisk-scheduler-extender.{NAMESPACE}.svc"
SECRET = "csi-azuredisk-scheduler-extender-placement"


@pytest.fixture(scope="module")
def core(apiserver):
    core = client.CoreV1Api(apiserver.client())
    core.create_namespace({"metadata": {"name": NAMESPACE}})
    return core


@pytest.fixture
def render(apiserver, core):
    """As helm upgrade does, with its look at the cluster."""
    def rendered() -> tuple[dict, str]:
        words = [tools.folder() / "helm", "template", "release", CHART, "--namespace", NAMESPACE,
                 "--set", "placement.mode=nominate", "--dry-run=server", "--kube-version=1.34.0",
                 "--kubeconfig", apiserver.kubeconfig]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        objects = [document for document in yaml.safe_load_all(done.stdout) if document]
        [secret] = of_kind(objects, "Secret")
        [configuration] = of_kind(objects, "MutatingWebhookConfiguration")
        return secret, configuration["webhooks"][0]["clientConfig"]["caBundle"]
    return rendered


def test_it_is_for_the_extenders_service(render, tmp_path):
    secret, authority = render()
    paths = {}
    for name in ("ca.crt", "tls.crt", "tls.key"):
        paths[name] = tmp_path / name
        paths[name].write_bytes(base64.b64decode(secret["data"][name]))
    assert secret["data"]["ca.crt"] == authority
    verify = ["openssl", "verify", "-purpose", "sslserver", "-verify_hostname", HOST, "-CAfile", paths["ca.crt"],
              paths["tls.crt"]]
    subprocess.run(verify, check=True, capture_output=True)
    keys = [["openssl", "x509", "-noout", "-pubkey", "-in", paths["tls.crt"]],
            ["openssl", "pkey", "-pubout", "-in", paths["tls.key"]]]
    first, second = (subprocess.run(words, check=True, capture_output=True).stdout for words in keys)
    assert first == second


def test_one_that_is_there_stays(core, render):
    secret, authority = render()
    assert render()[1] != authority  # nobody has installed it
    core.create_namespaced_secret(NAMESPACE, json.loads(json.dumps(secret)))
    again, authority_again = render()
    assert again["data"] == secret["data"] and authority_again == authority
    core.delete_namespaced_secret(SECRET, NAMESPACE)
    assert render()[1] != authority


def test_one_without_an_authority_is_made_anew(core, render):
    secret, _ = render()
    del secret["data"]["ca.crt"]
    core.create_namespaced_secret(NAMESPACE, secret)
    made, authority = render()
    assert made["data"]["ca.crt"] == authority and made["data"]["tls.crt"] != secret["data"]["tls.crt"]
    core.delete_namespaced_secret(SECRET, NAMESPACE)
