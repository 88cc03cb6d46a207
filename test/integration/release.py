"""The chart's accounts, roles and classes in an API server that has no nodes: what an installation may do, without
its pods. Programs run as processes with the tokens of their accounts."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chart.chart import containers, of_kind, render
from cluster import tools
from kubernetes import client

from .apiserver import ApiServer

INSTALLED = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "StorageClass", "CSIDriver",
             "VolumeSnapshotClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


class Permission(NamedTuple):
    """One verb on one resource. Without a namespace: in all of them. Without a name: on all objects."""

    account: str
    namespace: str
    resource: str  # plural.group/subresource
    verb: str
    name: str

    def covers(self, use: "Permission") -> bool:
        return (self.account, self.resource, self.verb) == (use.account, use.resource, use.verb) and (
            self.namespace in ("", use.namespace) and self.name in ("", use.name))

    def __str__(self) -> str:
        return f"{self.account}: {self.verb} {self.resource}" + (f" {self.name}" if self.name else "")


class Release:
    def __init__(self, apiserver: ApiServer, namespace: str, **values: object):
        self.apiserver, self.namespace = apiserver, namespace
        self.objects = render({path.replace("__", "."): value for path, value in values.items()}, namespace)

    def __enter__(self) -> "Release":
        api = self.apiserver.client()
        self.core = client.CoreV1Api(api)
        self.core.create_namespace({"metadata": {"name": self.namespace}})
        self.kubectl("apply", "--filename=-", objects=self._installed())
        return self

    def __exit__(self, *_) -> None:
        self.kubectl("delete", "--filename=-", "--wait=false", objects=self._installed())

    def _installed(self) -> list[dict]:
        return [document for kind in INSTALLED for document in of_kind(self.objects, kind)]

    def kubectl(self, *words: str, objects: list[dict]) -> str:
        whole = {"apiVersion": "v1", "kind": "List", "items": objects}
        kubectl = [tools.folder() / "kubectl", "--kubeconfig", self.apiserver.kubeconfig,
                   "--cache-dir", self.apiserver.folder / "kubectl", *words]
        done = subprocess.run(kubectl, input=json.dumps(whole), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def arguments(self, container: str) -> list[str]:
        [found] = [c["args"] for c in containers(self.objects) if c["name"] == container]
        return found

    # ---- accounts ----

    def kubeconfig(self, account: str, node: str | None = None) -> Path:
        """With a token of the account, as its pod on a node has it; on none: as it is without a pod."""
        spec: dict = {"expirationSeconds": 3600}
        if node:
            pod = {"metadata": {"name": f"{account}-{node}"},
                   "spec": {"serviceAccountName": account, "nodeName": node,
                            "containers": [{"name": "c", "image": "i"}]}}
            self.core.create_namespaced_pod(self.namespace, pod)
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Pod", "name": f"{account}-{node}"}
        token = self.core.create_namespaced_service_account_token(account, self.namespace, {"spec": spec}).status.token
        document = json.loads(self.apiserver.kubeconfig.read_text())
        document["users"][0]["user"] = {"token": token}
        path = self.apiserver.folder / f"{self.namespace}-{account}-{node}.conf"
        path.write_text(json.dumps(document))
        return path

    def permissions(self) -> set[Permission]:
        """What the roles allow, one by one."""
        roles = {(d["kind"], d["metadata"].get("namespace"), d["metadata"]["name"]): d["rules"]
                 for kind in ("Role", "ClusterRole") for d in of_kind(self.objects, kind)}
        found = set()
        for kind in ("RoleBinding", "ClusterRoleBinding"):
            for binding in of_kind(self.objects, kind):
                namespace = binding["metadata"].get("namespace")
                rules = roles[binding["roleRef"]["kind"], namespace, binding["roleRef"]["name"]]
                for subject in binding["subjects"]:
                    assert subject["namespace"] == self.namespace
                    found |= {Permission(subject["name"], namespace or "", *what) for what in _allowed(rules)}
        return found

    def uses(self) -> dict[Permission, bool]:
        """What the accounts have asked for until now, and whether it was allowed."""
        prefix = f"system:serviceaccount:{self.namespace}:"
        found = {}
        for entry in self.apiserver.audit():
            user, target = entry["user"]["username"], entry.get("objectRef")
            if user.startswith(prefix) and target:
                resource = _resource(target.get("apiGroup", ""), target["resource"], target.get("subresource"))
                use = Permission(user.removeprefix(prefix), target.get("namespace", ""), resource, entry["verb"],
                                 target.get("name", ""))
                found[use] = entry["annotations"]["authorization.k8s.io/decision"] == "allow"
        return found


def _resource(group: str, plural: str, subresource: str | None = None) -> str:
    return ".".join(filter(None, [plural, group])) + (f"/{subresource}" if subresource else "")


def _allowed(rules: list[dict]) -> Iterator[tuple[str, str, str]]:
    """Resource, verb, name."""
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                plural, _, subresource = resource.partition("/")
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames", [""]):
                        yield _resource(group, plural, subresource), verb, name
