"""Definitions of custom resources, the driver's above all, as kubectl applies them, in a real API server."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import yaml
from cluster.waiting import until
from kubernetes import client

DEFINITIONS = sorted((Path(__file__).parents[2] / "crds").glob("*.yaml"))


def install(api: client.ApiClient, files: Sequence[Path] = DEFINITIONS) -> None:
    """They are served when this returns; what exists stays."""
    assert files, "no definitions"
    extensions = client.ApiextensionsV1Api(api)
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


@contextmanager
def older(api: client.ApiClient, plural: str, field: str, is_kept: Callable[[], bool],
          part: str = "spec") -> Iterator[None]:
    """A definition without a field of spec, or of status, as somebody else may have installed it: what it does not know, an API
    server drops. `is_kept` says whether it does."""
    extensions, name = client.ApiextensionsV1Api(api), f"{plural}.disk.csi.azure.com"
    now = extensions.read_custom_resource_definition(name)
    without = extensions.read_custom_resource_definition(name)
    del without.spec.versions[0].schema.open_apiv3_schema.properties[part].properties[field]
    extensions.replace_custom_resource_definition(name, without)
    try:
        until(lambda: not is_kept(), "the older definition counts")
        yield
    finally:
        extensions.patch_custom_resource_definition(name, {"spec": api.sanitize_for_serialization(now.spec)})
        until(is_kept, "the definition counts again")


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
