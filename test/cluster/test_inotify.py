"""A cluster begins only where there are inotify instances for its kubelets."""

import ctypes
import os
from pathlib import Path

import pytest

from . import inotify
from .cluster import Cluster

UNCHANGEABLE = Path("/proc/sys/kernel/cap_last_cap")  # a number below 64, which nobody can write


@pytest.fixture
def limit(tmp_path, monkeypatch):
    file = tmp_path / "max_user_instances"
    monkeypatch.setattr(inotify, "LIMIT", file)
    return file


def test_a_low_limit_is_raised(limit):
    limit.write_text("128\n")
    inotify.provide(4)
    assert int(limit.read_text()) == inotify.WISHED


def test_one_that_suffices_stays(limit):
    limit.write_text("8192\n")
    inotify.provide(4)
    assert limit.read_text() == "8192\n"


def test_many_nodes_get_what_they_need(limit):
    limit.write_text("8192\n")
    inotify.provide(1000)
    assert int(limit.read_text()) >= 1000 * inotify.OF_A_NODE


def test_where_it_cannot_be_raised_no_cluster_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(inotify, "LIMIT", UNCHANGEABLE)
    directory = tmp_path / "cluster"
    with pytest.raises(RuntimeError, match="100 nodes needs 1008 inotify instances.*max_user_instances"):
        Cluster.up([f"n{i}" for i in range(100)], directory)
    assert not directory.exists()


def test_where_it_need_not_be_raised_one_begins_all_the_same(monkeypatch):
    monkeypatch.setattr(inotify, "LIMIT", UNCHANGEABLE)
    monkeypatch.setattr(inotify, "_taken", lambda: 0)
    inotify.provide(1)


def test_what_is_taken_is_counted():
    before = inotify._of_process(os.getpid())
    instance = ctypes.CDLL(None).inotify_init()
    try:
        assert inotify._of_process(os.getpid()) == before + 1
    finally:
        os.close(instance)


def test_a_node_takes_no_more_than_is_thought(cluster, measured):
    machines = [machine for machine in cluster.machines() if machine.name in cluster.nodes]
    taken = [sum(inotify._of_process(p.pid) for p in machine.processes()) for machine in machines]
    measured["inotify instances of a node"] = f"{max(taken)} at most"
    assert 0 < max(taken) <= inotify.OF_A_NODE
