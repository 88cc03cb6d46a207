"""Prometheus beside a test cluster, told by the chart's monitors and rules what to read and to record, as its operator would
tell it.

The program is in Debian's package; which is unpacked, not installed.
"""

import json
import subprocess
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from chart import chart
from cluster import debian
from cluster.cluster import Cluster
from cluster.waiting import until

PROGRAM = "./usr/bin/prometheus"
PORT = 9090
INTERVAL = 5  # seconds between two readings
ENDPOINTS = {"ServiceMonitor": "endpoints", "PodMonitor": "podMetricsEndpoints"}
MONITORED = {
    "metrics.rules.enabled": True,
    "node.metrics.monitor.enabled": True,
    **{f"{part}.metrics.service.{name}": True for part in ("controller", "schedulerExtender")
       for name in ("enabled", "monitor.enabled")},
}


class Prometheus:
    """In the network of the control plane, from where it reaches all pods."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self._folder = cluster.directory / "prometheus"
        self._process: subprocess.Popen | None = None
        self._monitors: list[dict] = []
        self._ends = threading.Event()
        self._finder = threading.Thread(target=self._keep_finding, daemon=True)

    def __enter__(self) -> "Prometheus":
        self._folder.mkdir()
        objects = chart.render(MONITORED)
        self._write("rules.yml", {"groups": [group for rule in chart.of_kind(objects, "PrometheusRule")
                                             for group in rule["spec"]["groups"]]})
        self._monitors = [monitor for kind in ENDPOINTS for monitor in chart.of_kind(objects, kind)]
        self._write("prometheus.yml", {
            "global": {"scrape_interval": f"{INTERVAL}s", "evaluation_interval": f"{INTERVAL}s"},
            "rule_files": ["rules.yml"],
            "scrape_configs": [*map(self._job, self._monitors), self._kubelets()],
        })
        self._find_all()
        self._start()
        self._finder.start()
        return self

    def __exit__(self, *_) -> None:
        self._ends.set()
        self._finder.join()
        self._process.terminate()
        self._process.wait(timeout=60)

    def _write(self, name: str, content: dict) -> None:
        (self._folder / name).write_text(json.dumps(content, indent=1))  # which is YAML, too

    def _start(self) -> None:
        program = debian.unpacked("prometheus", ("prometheus",), (PROGRAM,)) / PROGRAM
        flags = (f"--config.file={self._folder / 'prometheus.yml'}", f"--storage.tsdb.path={self._folder / 'data'}",
                 f"--web.listen-address=127.0.0.1:{PORT}")
        with open(self._folder / "log", "wb") as log:
            self._process = subprocess.Popen([*self.cluster.network.enter("cp"), program, *flags], stdout=log, stderr=log)
        try:
            until(self._is_ready, "Prometheus is ready", 60)
        except BaseException:
            self._process.kill()
            raise

    def _is_ready(self) -> bool:
        if self._process.poll() is not None:
            raise RuntimeError(f"Prometheus does not start: {(self._folder / 'log').read_text()}")
        try:
            return self._get("-/ready") is not None
        except OSError:
            return False

    # ---- what it reads ----

    def _job(self, monitor: dict) -> dict:
        """The targets are in a file, as Debian's Prometheus does not ask Kubernetes itself."""
        [endpoint] = monitor["spec"][ENDPOINTS[monitor["kind"]]]
        return {
            "job_name": self._name(monitor),
            "file_sd_configs": [{"files": [str(self._targets(monitor))]}],
            "relabel_configs": [{"source_labels": each["sourceLabels"], "target_label": each["targetLabel"]}
                                for each in endpoint.get("relabelings", [])],
        }

    @staticmethod
    def _name(monitor: dict) -> str:
        """As the operator has it for pods, and for a Service."""
        metadata = monitor["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}" if monitor["kind"] == "PodMonitor" else metadata["name"]

    def _targets(self, monitor: dict) -> Path:
        return self._folder / f"{monitor['metadata']['name']}.json"

    def _find_targets(self, monitor: dict) -> None:
        spec = monitor["spec"]
        [endpoint] = spec[ENDPOINTS[monitor["kind"]]]
        [namespace] = spec["namespaceSelector"]["matchNames"]
        selector = f"app={spec['selector']['matchLabels']['app']}"
        find = self._of_pods if monitor["kind"] == "PodMonitor" else self._of_services
        found = [{"targets": [address], "labels": labels | {"namespace": namespace}}
                 for address, labels in find(namespace, selector, endpoint["port"])]
        path = self._targets(monitor)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(found))
        partial.rename(path)

    def _of_services(self, namespace: str, selector: str, port: str) -> Iterator[tuple[str, dict]]:
        for part in self.cluster.get("endpointslices", "-n", namespace, "-l", selector)["items"]:
            numbers = [each["port"] for each in part["ports"] if each["name"] == port]
            for endpoint in part["endpoints"] or []:
                yield from ((f"{endpoint['addresses'][0]}:{number}", {"pod": endpoint["targetRef"]["name"]}) for number in numbers)

    def _of_pods(self, namespace: str, selector: str, port: str) -> Iterator[tuple[str, dict]]:
        for pod in self.cluster.get("pods", "-n", namespace, "-l", selector)["items"]:
            labels = {"pod": pod["metadata"]["name"], "__meta_kubernetes_pod_node_name": pod["spec"].get("nodeName", "")}
            for container in pod["spec"]["containers"]:
                yield from ((f"{pod['status']['podIP']}:{each['containerPort']}", labels) for each in container.get("ports", [])
                            if each.get("name") == port and "podIP" in pod["status"])

    def _keep_finding(self) -> None:
        while not self._ends.wait(INTERVAL):
            self._find_all()

    def _find_all(self) -> None:
        for monitor in self._monitors:
            self._find_targets(monitor)

    def _kubelets(self) -> dict:
        """By way of the API server, which needs no rights on the nodes."""
        pki = self.cluster.authority.path
        return {
            "job_name": "kubelet",
            "scheme": "https",
            "honor_labels": True,
            "tls_config": {"ca_file": str(pki("ca.crt")), "cert_file": str(pki("admin.crt")), "key_file": str(pki("admin.key"))},
            "static_configs": [{"targets": [self.cluster.authority.server.removeprefix("https://")],
                                "labels": {"node": node, "__metrics_path__": f"/api/v1/nodes/{node}/proxy/metrics"}}
                               for node in self.cluster.nodes],
        }

    # ---- what it is asked ----

    def _get(self, path: str, **arguments: str | float) -> bytes:
        query = urllib.parse.urlencode(arguments)
        with self.cluster.inside("cp"), urllib.request.urlopen(f"http://127.0.0.1:{PORT}/{path}?{query}", timeout=30) as answer:
            return answer.read()

    def jobs(self) -> set[str]:
        """Of which it reads all that there is."""
        targets = json.loads(self._get("api/v1/targets", state="active"))["data"]["activeTargets"]
        unread = {target["labels"]["job"] for target in targets if target["health"] != "up"}
        return {target["labels"]["job"] for target in targets} - unread

    def series(self, expression: str, begin: float, end: float, step: int) -> list[tuple[dict, list[tuple[float, float]]]]:
        """Labels, and what there is at each step, by time; nothing where there is no number."""
        answer = json.loads(self._get("api/v1/query_range", query=expression, start=begin, end=end, step=step))
        return [(found["metric"], [(float(time), float(value)) for time, value in found["values"] if isfinite(float(value))])
                for found in answer["data"]["result"]]
