"""docs/metrics.md, from the tables of metrics of the programs."""

from .c_tables import initializer, initializers
from .markdown import code, codes, page, table

SHARED, CSI = "lib/program/shared_metrics.c", "lib/program/csi_call.c"
UPSTREAM = "lib/program/upstream_calls.c"
AZURE = ("provisioner-lib/azure/azure_metrics.c", "provisioner-lib/azure/upstream_requests.c")

OF_ANOTHER_DRIVER = ("schedulerExtender_", "cloudprovider_azure_")  # names that are not ours to choose

PROGRAMS = {  # file, name of the table, other files whose metrics are in it
    "azdisk-controller": ("controller/metrics.c", "CONTROLLER_METRICS", SHARED, CSI, UPSTREAM, *AZURE),
    "azdisk-node": ("node/metrics.c", "NODE_METRICS", SHARED, CSI, UPSTREAM),
    "azdisk-scheduler-extender": ("scheduler-extender/metrics.c", "EXTENDER_METRICS", SHARED),
}

UNITS = {"_seconds": "seconds", "_bytes": "bytes", "_disks": "disks", "_total": "count"}

HEAD = """\
Metrics that the programs serve at `/metrics` in Prometheus' text format, on `--metrics-address`, and on
`--health-address` if it is set. With a certificate (`--metrics-tls-cert-file`, the chart's `metrics.tls`), `--metrics-address`
answers by HTTPS, and metrics are served there alone: [security.md](security.md#metrics-over-tls). The sidecars serve none. A series appears with its first value, but counters of rare events begin at 0.
Names follow Prometheus' conventions: they end with the unit, and those of counters end with `_total`. A histogram has the
series `_bucket`, `_sum` and `_count`. The set of values of each label is fixed: names of volumes, nodes or pods are never
label values.

Names that begin with `cloudprovider_azure_` or `schedulerExtender_`, and `azuredisk_csi_driver_operations_total` and
`azuredisk_csi_driver_operation_duration_seconds`, are those of the Azure Disk CSI driver, with its labels and buckets, for
dashboards and alerts that know them. They differ where the drivers do: a volume from a snapshot or of another volume counts as
`controller_create_volume`; the label `source` of requests to Azure is empty; requests are never refused by the driver itself, but
wait (`azuredisk_azure_budget_wait_seconds`), so `cloudprovider_azure_api_request_throttled_count` counts Azure's refusals, and
nothing is counted as rate-limited.
"""


def metrics(program: str) -> list[dict]:
    file, name, *others = PROGRAMS[program]
    declared = {}
    for source in [file, *others]:
        declared |= initializers(source, "struct metric")
    listed = [entry.removeprefix("&") for entry in initializer(file, f"struct metric *const {name}[]")]
    assert sorted(listed) == sorted(declared), f"{file}: declared and listed metrics differ"
    return [declared[entry] for entry in listed]


def unit(metric: dict) -> str:
    if metric["name"].endswith("_info"):
        return ""
    return next((unit for ending, unit in UNITS.items() if metric["name"].endswith(ending)), "number")


def _row(metric: dict) -> list[str]:
    kind = metric["type"].removeprefix("METRIC_").lower()
    return [code(metric["name"]), kind, unit(metric), codes(metric.get("labels", [])), metric["help"]]


def text() -> str:
    parts = []
    for program in PROGRAMS:
        rows = [_row(metric) for metric in metrics(program)]
        parts += [f"## {program}\n", table(["metric", "type", "unit", "labels", "meaning"], rows)]
    return page("Metrics", HEAD, *parts)
