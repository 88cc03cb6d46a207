"""helm upgrade where the leader keeps the webhook's certificate: Helm takes nothing away that it has not made, and lets go of what
an earlier chart has made."""

import base64
import shutil
from pathlib import Path

import pytest
import yaml
from chart.chart import CHART
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from .apiserver import ApiServer
from .helm import Helm
from .webhook_certificate import CONFIGURATION, SECRET

NAMESPACE = "placement-upgrade"
FORMER = {"ca.crt": "YXV0aG9yaXR5", "tls.crt": "Zm9ybWVy", "tls.key": "a2V5"}


class Installation(Helm):
    def __init__(self, cluster: ApiServer):
        super().__init__(cluster, NAMESPACE)
        self.core = client.CoreV1Api(cluster.client())
        self.hooks = client.AdmissionregistrationV1Api(cluster.client())

    def apply(self, verb: str, chart: Path | str = CHART) -> None:
        self.run(verb, "release", chart, "--set", "placement.mode=nominate", "--take-ownership")  # crds.keep

    def secret(self) -> client.V1Secret | None:
        try:
            return self.core.read_namespaced_secret(SECRET, NAMESPACE)
        except ApiException:
            return None

    def state(self) -> tuple[dict | None, str]:
        [hook] = self.hooks.read_mutating_webhook_configuration(CONFIGURATION).webhooks
        secret = self.secret()
        return secret and secret.data, hook.client_config.ca_bundle

    def rotate(self, bundle: str) -> None:
        """As the leader does."""
        patch = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": base64.b64encode(bundle.encode()).decode()}]
        self.hooks.patch_mutating_webhook_configuration(CONFIGURATION, patch)
        data = {"tls.crt": base64.b64encode(f"of {bundle}".encode()).decode(), "tls.key": ""}
        if self.secret():
            self.core.patch_namespaced_secret(SECRET, NAMESPACE, {"data": data})
        else:
            self.core.create_namespaced_secret(NAMESPACE, {"metadata": {"name": SECRET}, "type": "kubernetes.io/tls", "data": data})


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """One of its own, into which Helm alone installs."""
    server = ApiServer(tmp_path_factory.mktemp("placement-upgrade"))
    client.CoreV1Api(server.client()).create_namespace({"metadata": {"name": NAMESPACE}})
    yield server
    server.close()


@pytest.fixture
def helm(cluster):
    helm = Installation(cluster)
    yield helm
    helm.uninstall("release")
    if helm.secret():  # the garbage collector's part
        helm.core.delete_namespaced_secret(SECRET, NAMESPACE)


def former_chart(folder: Path) -> Path:
    """With a Secret and an authority in what is rendered."""
    chart = folder / "former"
    shutil.copytree(CHART, chart)
    (chart / "templates/placement-certificate.yaml").write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": SECRET, "namespace": NAMESPACE}, "data": FORMER}))
    template = chart / "templates/placement.yaml"
    text = template.read_text()
    assert text.count("      {{- with $authority }}\n      caBundle: {{ . }}\n      {{- end }}\n") == 1
    template.write_text(text.replace("{{- with $authority }}\n      caBundle: {{ . }}\n      {{- end }}", f"caBundle: {FORMER['ca.crt']}"))
    return chart


def test_helm_leaves_the_leaders_objects_alone(helm):
    helm.apply("install")
    assert helm.state() == (None, None)
    for bundle in "first", "second":
        helm.rotate(bundle)
        left = helm.state()
        helm.apply("upgrade")
        assert helm.state() == left


def test_helm_lets_go_of_what_an_earlier_chart_has_made(helm, tmp_path):
    helm.apply("install", former_chart(tmp_path))
    assert helm.state() == (FORMER, FORMER["ca.crt"])
    helm.apply("upgrade")
    assert helm.state() == (FORMER, FORMER["ca.crt"])
    assert helm.secret().metadata.annotations["helm.sh/resource-policy"] == "keep"
    for bundle in "first", "second":
        helm.rotate(bundle)
        left = helm.state()
        helm.apply("upgrade")
        assert helm.state() == left
