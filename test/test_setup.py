"""What make installs, and what it only looks for: mk/setup.mk, in a tree with one file of C and with
stand-ins for Debian's programs and for pkg-config."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOG = "build/logs/setup.log"

# Debian without one library: pkg-config does not find it, dpkg does not know it.
PROGRAMS = {
    "pkg-config": 'case "$*" in *libuv*) exit 1;; esac\n',
    "dpkg-query": 'case "$*" in *libuv1-dev*) exit 1;; esac\nprintf installed\n',
    "apt-get": 'echo "apt-get $*" >>"$(dirname "$0")/called"\necho "Reading package lists"\n',
    "id": "echo 0\n",
}


@pytest.fixture
def tree(tmp_path):
    for name in ("Makefile", "mk", "test/requirements.txt", "provisioner-lib/azure/vm_sizes.txt"):
        there = tmp_path / name
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(ROOT / name)
    for folder in ("bin", "lib/base", "test/unit"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "lib/base/disk.c").write_text("void disk(void);\nvoid disk(void)\n{\n    int spare;\n}\n")
    for name, script in PROGRAMS.items():
        stand_in(tmp_path, name, script)
    return tmp_path


def stand_in(tree, name, script):
    (tree / "bin" / name).write_text(f"#!/bin/sh\n{script}")
    (tree / "bin" / name).chmod(0o755)


def make(tree, *arguments, **variables):
    environment = {"PATH": f"{tree}/bin:/usr/bin:/bin", "HOME": str(tree), **variables}
    return subprocess.run(["make", *arguments], cwd=tree, env=environment, capture_output=True, text=True)


def installed(tree):
    called = tree / "bin/called"
    return called.read_text().splitlines() if called.exists() else []


OBJECT = "build/plain/lib/base/disk.o"


def test_a_build_names_what_is_missing_and_installs_nothing(tree):
    done = make(tree, OBJECT)
    assert done.returncode != 0
    assert "libuv1-dev (libuv.pc)" in done.stderr
    assert "libjansson-dev" not in done.stderr
    assert '"make setup PACKAGES=build" installs them' in done.stderr
    assert not installed(tree)
    assert not (tree / OBJECT).exists()


def test_what_was_found_is_not_looked_for_again(tree):
    stand_in(tree, "pkg-config", "exit 0\n")
    assert make(tree, OBJECT).returncode == 0
    stand_in(tree, "pkg-config", "exit 1\n")
    (tree / OBJECT).unlink()
    assert make(tree, OBJECT).returncode == 0


def test_the_python_of_the_tests_is_named_too(tree):
    done = make(tree, "docs", "-k")
    assert done.returncode != 0
    assert 'The Python environment of the tests is missing: "make setup" makes it.' in done.stderr


def test_setup_installs_what_is_missing_in_one_line_a_step(tree):
    done = make(tree, "setup", "PACKAGES=build")
    assert done.returncode == 0, done.stderr
    update, install = installed(tree)
    assert update.startswith("apt-get update")
    assert install.startswith("apt-get install") and install.endswith(" libuv1-dev")
    assert re.fullmatch(r"1/2 lists of packages +\d+ s\n2/2 packages \(1\) +\d+ s\n", done.stdout)
    assert (tree / LOG).read_text().count("Reading package lists") == 2


def test_setup_does_nothing_where_nothing_is_missing(tree):
    stand_in(tree, "dpkg-query", "printf installed\n")
    done = make(tree, "setup", "PACKAGES=build lint")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not installed(tree)


@pytest.mark.parametrize("goal", ("demo", "test", "bench", "conformance"))
def test_a_step_that_fails_shows_the_end_of_its_log(tree, goal):
    stand_in(tree, "apt-get", "seq 1 100\necho no such package >&2\nexit 100\n")
    done = make(tree, goal)
    assert done.returncode != 0
    assert re.fullmatch(r"1/2 lists of packages +failed\n", done.stdout)
    assert "no such package" in done.stderr and "\n99\n" in done.stderr and "\n50\n" not in done.stderr
    assert f"all that it printed is in {tree / LOG}" in done.stderr
    assert "\n50\n" in (tree / LOG).read_text()


def test_purposes_are_known(tree):
    done = make(tree, "setup", "PACKAGES=tset")
    assert done.returncode != 0
    assert 'no packages are for "tset"; there are build, image, unit, lint, test, cluster and roots' in done.stderr


@pytest.mark.parametrize("purpose", ("build", "image", "unit", "lint", "test", "cluster"))
def test_all_that_the_list_promises_is_here(purpose):
    done = subprocess.run([ROOT / "mk/packages.sh", "check", purpose], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_warning_is_an_error_for_developers_only(tree):
    stand_in(tree, "pkg-config", "exit 0\n")
    done = make(tree, OBJECT)
    assert done.returncode == 0 and "unused variable" in done.stderr
    (tree / OBJECT).unlink()
    done = make(tree, OBJECT, "DEVELOPER=1")
    assert done.returncode != 0 and "unused variable" in done.stderr


@pytest.mark.parametrize("goal", ("test", "lint", "unit"))
def test_the_tests_are_developers(tree, goal):
    stand_in(tree, "dpkg-query", "printf installed\n")
    assert "DEVELOPER=1" in make(tree, goal, "-n").stdout


OTHER = "riscv64"  # of no machine that this is developed on


@pytest.fixture
def goals_in_a_root(tree):
    """What another architecture's root is asked to make."""
    (tree / "mk").unlink()
    shutil.copytree(ROOT / "mk", tree / "mk")
    (tree / "mk/cross.sh").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    return tree


def test_goals_for_another_architecture_are_made_together_in_its_root(goals_in_a_root):
    done = make(goals_in_a_root, "image", "unit", f"ARCHITECTURE={OTHER}", "UNIT=lib/rt", "IMAGE=a b")
    assert (done.returncode, done.stderr) == (0, "")
    architecture, roots, *words = done.stdout.splitlines()
    assert architecture == OTHER and roots.endswith("/azuredisk-csi/roots")
    assert words[:2] == ["image", "unit"] and sorted(words[2:]) == ["IMAGE=a b", "UNIT=lib/rt"]


def test_the_environment_counts_there_too(goals_in_a_root):
    done = make(goals_in_a_root, "image", f"ARCHITECTURE={OTHER}", "IMAGE=b:2", VERSION="1.2.3", CFLAGS="-g -O3", IMAGE="a:1")
    assert sorted(done.stdout.splitlines()[3:]) == ["CFLAGS=-g -O3", "IMAGE=b:2", "VERSION=1.2.3"]


def test_without_a_goal_it_is_all_programs(goals_in_a_root):
    assert make(goals_in_a_root, f"ARCHITECTURE={OTHER}").stdout.splitlines()[2:] == ["all"]


def test_the_machines_own_architecture_needs_no_root(goals_in_a_root):
    stand_in(goals_in_a_root, "dpkg", f"echo {OTHER}\n")
    stand_in(goals_in_a_root, "pkg-config", "exit 0\n")
    assert make(goals_in_a_root, OBJECT, f"ARCHITECTURE={OTHER}").returncode == 0
    assert (goals_in_a_root / OBJECT).exists()


def test_only_root_makes_a_root(tree):
    stand_in(tree, "id", "echo 1000\n")
    done = make(tree, "image", f"ARCHITECTURE={OTHER}")
    assert done.returncode != 0
    assert f"ARCHITECTURE={OTHER} takes a container root, which only root can make" in done.stderr
