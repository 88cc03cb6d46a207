"""The definitions of the driver's custom resources, as kubectl applies them, in a real API server."""

from functools import partial
from pathlib import Path

import yaml
from cluster.waiting import until
from kubernetes import client

DEFINITIONS = Path(__file__).parents[2] / "crds"


def install(api: client.ApiClient) -> None:
    """They are served when this returns; what exists stays."""
    extensions = client.ApiextensionsV1Api(api)
    files = sorted(DEFINITIONS.glob("*.yaml"))
    assert files, f"no definitions in {DEFINITIONS}"
    for file in files:
        definition = yaml.safe_load(file.read_text())
        try:
            extensions.create_custom_resource_definition(definition)
        except client.ApiException as error:
            if error.status != 409:
                raise
        name = definition["metadata"]["name"]
        until(partial(_is_established, extensions, name), f"{name} is established")
        until(partial(_is_served, api, definition["spec"]), f"{name} is served")


def _is_established(extensions: client.ApiextensionsV1Api, name: str) -> bool:
    conditions = extensions.read_custom_resource_definition(name).status.conditions or []
    return any(c.type == "Established" and c.status == "True" for c in conditions)


def _is_served(api: client.ApiClient, spec: dict) -> bool:
    version = spec["versions"][0]["name"]
    try:
        client.CustomObjectsApi(api).list_cluster_custom_object(
            spec["group"], version, spec["names"]["plural"]
        )
    except client.ApiException as error:
        if error.status != 404:
            raise
        return False
    return True
