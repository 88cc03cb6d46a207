"""What alerts and dashboards ask of Prometheus: labels that metrics have, and values that programs give to them."""

import re
from functools import cache

from docs import metrics

from . import queries
from .chart import TREE

OF_TARGETS = {"namespace", "job", "pod", "node"}  # as the chart's monitors set them
NUMBERS = {"grpc_status_code", "le"}


@cache
def expressions() -> list[str]:
    return ([rule["expr"] for group in queries.alerts() + queries.recordings() for rule in group["rules"]]
            + [target["expr"] for _, target in queries.targets()])


@cache
def declared() -> dict[str, dict]:
    return {metric["name"]: metric for program in metrics.PROGRAMS for metric in metrics.metrics(program)}


def labels_of(series: str) -> set[str]:
    known = declared()
    name = series if series in known else re.sub(r"_(bucket|sum|count)$", "", series)
    assert (name != series) == (known[name]["type"] == "METRIC_HISTOGRAM"), series
    return {*known[name].get("labels", []), *OF_TARGETS, *(["le"] if series.endswith("_bucket") else [])}


@cache
def words_of_programs() -> set[str]:
    folders = ("controller", "node", "scheduler-extender", "provisioner-lib", "lib")
    files = (path for folder in folders for path in (TREE / folder).rglob("*.[ch]"))
    return {word for path in files for word in re.findall(r'"([\w -]+)"', path.read_text())}


def test_labels_are_those_of_the_metric_and_so_are_their_values():
    for expression in expressions():
        for series, matchers in re.findall(r"\b(azuredisk_\w+)(?:\{(.*?)\})?", expression):
            for label, text in re.findall(r'(\w+)(?:=~|!~|!=|=)"(.*?)"', matchers):
                assert label in labels_of(series), f"{series}{{{label}}}"
                if label not in NUMBERS and re.fullmatch(r"[\w |]+", text):
                    assert not set(text.split("|")) - words_of_programs(), f"{series}{{{label}}}"


def test_what_is_summed_by_are_labels_of_the_metric():
    for expression in expressions():
        of_ours = [labels_of(series) for series in queries.metrics_of(expression)]
        for listed in re.findall(r"by \(([^)]*)\)", expression) if of_ours else ():
            assert set(re.findall(r"\w+", listed)) <= set().union(*of_ours), expression


def test_what_every_controller_serves_is_not_added_up():
    """Those that stand by know the custom resources, too."""
    for expression in expressions():
        for found in re.finditer(r"azuredisk_(?:volumes|attachments|driver_nodes)\b", expression):
            assert re.search(r"max by \([^)]*\) \($", expression[:found.start()]), expression
