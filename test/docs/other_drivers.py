"""docs/other-drivers.md, from the chart's table of other charts' values."""

import json

from chart.other_drivers import CHARTS, ROWS, Row, decided, of_class

from .markdown import code, page, table

HEAD = """\
The chart takes the values of Microsoft's two charts for Azure disks: of version 2 of their driver (2.0.0-beta.11) and of
version 1 (1.35). A values file that was written for one of them can be used as it is:

    helm install azuredisk charts/azuredisk-csi-driver --namespace kube-system --values OLD-VALUES.yaml

Every value of these charts is one of four kinds. A name that is in none of the three charts is refused, so that typing
errors are found.
"""

KINDS = {
    "honoured": "it has the name and the meaning that it has there ([values.md](values.md))",
    "mapped": "it has its effect in another way, or by another name",
    "ignored": "it has no effect; after an installation, Helm names each that is set to something else than a default of these charts",
    "refused": "Helm fails, because to ignore it would do harm",
}

BEFORE_MOVING = """\
[moving.md](moving.md) has the commands, and the way back. What the other charts install and this one does not:

- A kube-scheduler of its own (version 2), unless `schedulerExtender.scheduler.enabled` is true. Without it, pods with
  `schedulerName: csi-azuredisk-scheduler-extender` wait ([scheduling.md](scheduling.md#a-second-scheduler)). With it, remove
  `image.kubeScheduler.tag` from the file: a scheduler as old as version 2's does not go with the cluster, and is refused.
- The definitions of VolumeSnapshots, with `snapshot.enabled` ([snapshots.md](snapshots.md#installing)).
- A node plug-in for Windows: volumes cannot be used on Windows nodes. In a cluster that has some, the upgrade check stops Helm.

Some defaults differ from those of both charts, and a file with all values of one of them keeps the old defaults:

- `image.*.tag` of sidecars: this chart is tested with the versions in its own values.yaml, and features such as changing
  a volume by a VolumeAttributesClass need them. Remove `image` from the file unless images come from a registry of your own.
- `linux.resources.azuredisk.limits.memory`: file systems are only checked and repaired as far as this memory suffices.
- `controller.logLevel`, `node.logLevel`: 5 is for debugging.
- `controller.extraArgs`: the programs have other flags ([options.md](options.md)); they do not start with unknown ones.
- With a proxy, the API server is never called through it, whatever `driver.noProxy` says. The node plug-ins have no proxy.
- `workloadIdentity` concerns the controller only.
"""


def _defaults(row: Row) -> str:
    """One if they are the same; "1" and "2" are versions of the driver."""
    texts = {chart: json.dumps(value) for chart, value in row.defaults.items()}
    shown = {chart: code(text) if len(text) < 60 else "an object" for chart, text in texts.items()}
    if len(texts) == len(CHARTS) and len(set(texts.values())) == 1:
        return shown["v2"]
    return ", ".join(f"{chart}: {text}" for chart, text in shown.items())


def _section(kind: str) -> list[str]:
    rows = [(code(row.path), _defaults(row), f"Here it is {code(row.to)}." if row.to else row.why) for row in of_class(kind)]
    return [f"## {kind.capitalize()}\n", table(["value", "default", "what becomes of it"], rows)]


def _counts() -> str:
    counts = {chart: decided(chart) for chart in CHARTS}
    return table(["kind", "version 2", "version 1", ""],
                 [(kind, str(counts["v2"][kind]), str(counts["v1"][kind]), meaning) for kind, meaning in KINDS.items()])


def text() -> str:
    assert {row.decision for row in ROWS} == set(KINDS)
    honoured = ", ".join(code(row.path) for row in of_class("honoured"))
    return page("Values of the other drivers' charts", HEAD, _counts(), "## Before you move\n", BEFORE_MOVING,
                *_section("mapped"), *_section("ignored"), *_section("refused"), "## Honoured\n", f"{honoured}.\n")
