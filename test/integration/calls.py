"""CSI's Controller calls as the tests make them, with what is the same in all."""

import grpc

from .csi import mounted

SHARED = {"skuName": "Premium_LRS", "maxShares": "3"}
GIB = 1024**3


def zone(driver: str) -> dict:
    """Of the nodes, as a driver's node plug-in tells it."""
    return {"segments": {f"topology.{driver}/zone": "eastus-1"}}


def create(controller, name="pvc-1", parameters=SHARED, capability=None, size=4 * GIB, limit=0, **more):
    """The volume."""
    return controller.csi.call(
        "Controller/CreateVolume",
        name=name,
        parameters=parameters,
        volume_capabilities=[capability or mounted()],
        capacity_range={"required_bytes": size, "limit_bytes": limit},
        accessibility_requirements={"requisite": [zone(controller.world.driver)]},
        **more,
    ).volume


def delete(controller, volume_id: str):
    return controller.csi.call("Controller/DeleteVolume", volume_id=volume_id)


def publish(controller, volume_id: str, node: str, capability=None, **more) -> dict[str, str]:
    """The publish context."""
    return dict(
        controller.csi.call(
            "Controller/ControllerPublishVolume",
            volume_id=volume_id,
            node_id=node,
            volume_capability=capability or mounted(),
            **more,
        ).publish_context
    )


def unpublish(controller, volume_id: str, node: str):
    return controller.csi.call("Controller/ControllerUnpublishVolume", volume_id=volume_id, node_id=node)


class refused:
    """The call in the with block fails with this code, and its text has these words."""

    def __init__(self, code: str, *words: str):
        self.code, self.words = grpc.StatusCode[code], words

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, _) -> bool:
        assert kind and issubclass(kind, grpc.RpcError), f"not refused: {error}"
        assert error.code() == self.code, error
        missing = [word for word in self.words if word not in error.details()]
        assert not missing, f"{missing} not in: {error.details()}"
        return True
