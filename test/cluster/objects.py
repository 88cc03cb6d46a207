"""Kubernetes objects that the cluster's own tests make."""

from .images import BUSYBOX_IMAGE

WEB_SERVER = "mkdir /www && hostname >/www/index.html && exec httpd -f -p 80 -h /www"


def spec(script: str, **others) -> dict:
    """Of a privileged pod that runs a shell script and sees its node's /dev."""
    container = {
        "name": "main",
        "image": BUSYBOX_IMAGE,
        "imagePullPolicy": "Never",
        "command": ["/bin/busybox", "sh", "-ec", script],
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "dev", "mountPath": "/dev"}],
    }
    return {
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
        "volumes": [{"name": "dev", "hostPath": {"path": "/dev"}}],
        **others,
    }


def pod(name: str, spec: dict) -> dict:
    metadata = {"name": name, "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def service(name: str) -> dict:
    """In front of the pod of the same name."""
    spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def stateful_set(name: str, spec: dict) -> dict:
    """Of one pod, NAME-0."""
    labels = {"app": name}
    whole = {
        "serviceName": name,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": spec},
    }
    metadata = {"name": name}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": whole}
