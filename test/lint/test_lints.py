"""Every lint passes a clean tree; each of its findings comes from a tree with one thing wrong."""

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("Makefile", "mk", ".clang-format", ".clang-tidy", "test/lint", "test/requirements.txt",
         "provisioner-lib/azure/vm_sizes.txt")
LINTS = ("layers", "banned", "borrowed", "shape", "format", "tidy", "cppcheck")

HEADER = """/* disk.h - a disk.
 */
#pragma once

int disk_size(int lun);
"""
SOURCE = """#include "lib/base/disk.h"

int disk_size(int lun)
{
    return lun + 1;
}
"""


def returning(expression):
    return SOURCE.replace("lun + 1", expression)


def function_of(lines):
    body = "".join(f"    lun += {n};\n" for n in range(lines - 2))
    return SOURCE.replace("    return lun + 1;\n", body + "    return lun;\n")


@pytest.fixture
def tree(tmp_path):
    """The project's tools around two good files."""
    for name in TOOLS:
        there = tmp_path / name
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(ROOT / name)
    (tmp_path / "test/unit").mkdir()
    write(tmp_path, "lib/base/disk.h", HEADER)
    write(tmp_path, "lib/base/disk.c", SOURCE)
    return tmp_path


def write(tree, path, content):
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text(content)


def lint(tree, name):
    return subprocess.run(
        ["make", "-s", f"lint-{name}"],
        cwd=tree,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tree)},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("name", LINTS)
def test_a_clean_tree_passes(tree, name):
    result = lint(tree, name)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def in_a_task(*statements):
    return ("int f(struct task *self, struct store *store)\n{\n    " + "\n    ".join(statements) + "\n    return 0;\n}\n")


def include(path):
    return f'#include "{path}"\n'


UP = "may include only lib/base; move what both need down, or pass it in"
BAD = [
    # layers: up, sideways, out of the product, without a path; comments do not count
    ("layers", "lib/rt/a.c", include("lib/http/client.h"),
     f'lib/rt/a.c:1: includes "lib/http/client.h", but lib/rt {UP}'),
    ("layers", "lib/base/a.c", '\n  #  include "lib/rt/loop.h"\n',
     'lib/base/a.c:2: includes "lib/rt/loop.h", but lib/base may include only itself;'),
    ("layers", "lib/kube/a.c", include("lib/rpc/server.h"), 'a.c:1: includes "lib/rpc/server.h", but lib/kube'),
    ("layers", "provisioner-lib/host/a.c", include("node/stage.h"), "but provisioner-lib may include only"),
    ("layers", "controller/a.c", include("node/stage.h"), "but controller may include only"),
    ("layers", "controller/a.c", include("test/unit/expect.h"), "but controller may include only"),
    ("layers", "test/azsim/a.c", include("provisioner-lib/disk.h"), "but test/azsim may include only lib/base"),
    ("layers", "test/azsim/model/a.c", include("lib/http/client.h"), "but test/azsim/model may include only"),
    ("layers", "test/azsim/model/a.c", include("test/azsim/server.h"), "but test/azsim/model may include only"),
    ("layers", "lib/base/a.c", include("disk.h"), '"disk.h" is no path from the root of the tree'),
    ("layers", "lib/new/a.c", "", "lib/new/a.c:1: its folder is in no layer"),
    # banned: every group; members, longer names, comments and strings are other things
    ("banned", "lib/base/a.c", returning('strcpy ("a", "b")'), "a.c:5: calls strcpy; use mem_printf"),
    ("banned", "lib/base/a.c", returning("strtok(0, 0)"), "calls strtok; use strsep"),
    ("banned", "lib/base/a.c", returning('atoi("1")'), "calls atoi; use strtoll"),
    ("banned", "lib/base/a.c", returning('system("ls")'), "calls system; use subprocess_run"),
    ("banned", "lib/base/a.c", returning("(int)(long)malloc(1)"), "calls malloc; use lib/base/alloc.h"),
    ("banned", "lib/rt/alloc.c", returning("(int)(long)malloc(1)"), "calls malloc; use lib/base/alloc.h"),
    ("banned", "lib/kube/a.c", returning("(int)time(0)"), "calls time; take time and chance from the loop"),
    ("banned", "lib/base/a.c", returning("usleep(1)"), "calls usleep; use task_sleep"),
    # borrowed: what a store has lent, after a yield
    ("borrowed", "controller/a.c", in_a_task("struct o *o = store_get(store, 0);", "TRY(write(self, 1));", "use(o);"),
     "controller/a.c:5: o is borrowed of a store, and the task has yielded since; keep it by kube_object_ref"),
    ("borrowed", "controller/a.c", in_a_task("o = kubernetes_pv(c, 0);", "if (!o)", "return write(self, 1);", "TRY(write(self, o));",
                                             "o->seen = 1;"), "a.c:7: o is borrowed of a store"),
    # shape
    ("shape", "lib/base/a.h", HEADER, 'lib/base/a.h:1: does not begin with "/* a.h - "'),
    ("shape", "lib/base/a.h", "", 'lib/base/a.h:1: does not begin with "/* a.h - "'),
    ("shape", "lib/base/a.c", "int a;\n" * 801, "lib/base/a.c:801: has 801 lines, 800 is the most"),
    ("shape", "test/a.py", "\n# TO" "DO: more\n", 'test/a.py:2: "TO' 'DO": finish it'),
    ("shape", "docs/a.md", "Works for" " now.\n", 'docs/a.md:1: "for' ' now": finish it'),
    # the tools
    ("format", "lib/base/a.c", SOURCE.replace("    return", "  return"), "lib/base/a.c:4"),
    ("tidy", "lib/base/a.c", returning("lun - lun"), "misc-redundant-expression"),
    ("tidy", "lib/base/a.c", SOURCE.replace("lun", "number"), "readability-inconsistent-declaration"),
    ("tidy", "lib/base/a.c", function_of(61), "readability-function-size"),
    ("tidy", "lib/base/a.c", SOURCE.replace("    return", "    int spare;\n    return"), "unused variable 'spare'"),
    ("tidy", "lib/base/a.c", SOURCE.replace("int disk_size(", "int disk_sizes("), "no previous prototype"),
    ("cppcheck", "lib/base/a.c", returning("lun / 0"), "lib/base/a.c:5:16: error: Division by zero"),
]  # fmt: skip


def numbered(rows):
    return [f"{row[0]}-{number}" for number, row in enumerate(rows)]


@pytest.mark.parametrize("name, path, content, finding", BAD, ids=numbered(BAD))
def test_what_is_wrong_is_found(tree, name, path, content, finding):
    write(tree, path, content)
    result = lint(tree, name)
    assert result.returncode != 0
    assert finding in result.stdout + result.stderr


GOOD = [
    ("layers", "lib/rt/a.c", include("lib/base/disk.h")),
    ("layers", "node/a.c", include("provisioner-lib/host/device.h") + include("lib/kube/store.h")),
    ("layers", "test/azsim/a.c", include("test/azsim/model/disk.h") + include("lib/rpc/server.h")),
    ("layers", "test/unit/lib/rt/a.c", include("controller/plan.h")),
    ("layers", "lib/base/a.c", '/*\n#include "lib/rt/loop.h"\n*/\n#include <stdio.h>\n'),
    ("banned", "lib/base/a.c", returning('disk->time(0) + disk.sleep(1) + my_malloc(2) + "time()"[0]')),
    ("banned", "lib/base/a.c", "/* strcpy(a, b) */\n// malloc(1)\n"),
    ("banned", "lib/base/alloc.c", returning("(int)(long)malloc(1)")),
    ("banned", "lib/rt/loop.c", returning("(int)time(0)")),
    ("borrowed", "controller/a.c", in_a_task("o = store_get(store, 0);", "if (!o)", "return write(self, 1);", "use(o);")),
    ("borrowed", "controller/a.c", in_a_task("o = store_get(store, 0);", "TRY(write(self, o));", "o = store_get(store, 0);",
                                             "use(o);")),
    ("borrowed", "controller/a.c", in_a_task("o = kube_object_ref(store_get(store, 0));", "TRY(write(self, o));", "use(o);")),
    ("borrowed", "controller/a.c", in_a_task("o = store_get(store, 0);", "kube_object_ref(o);", "TRY(write(self, 1));", "use(o);")),
    ("borrowed", "controller/a.c", in_a_task("o = store_get(store, 0);", "TRY(write(self, 1));", "use(p->o);")),
    ("shape", "lib/base/a.c", "int a;\n" * 800),
    ("shape", "test/a.py", 'mkstemp("/tmp/aXXXXXX")\n'),
    ("tidy", "lib/base/a.c", function_of(60)),
]  # fmt: skip


@pytest.mark.parametrize("name, path, content", GOOD, ids=numbered(GOOD))
def test_what_is_right_is_not_found(tree, name, path, content):
    write(tree, path, content)
    result = lint(tree, name)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


@pytest.mark.parametrize("name", ("tidy", "cppcheck"))
def test_what_was_seen_is_not_looked_at_again_until_it_changes(tree, name):
    assert lint(tree, name).returncode == 0
    stamps = {path: path.stat().st_mtime_ns for path in (tree / "build/lint").glob("**/*.[ts]*")}
    assert lint(tree, name).returncode == 0
    assert stamps == {path: path.stat().st_mtime_ns for path in stamps}

    bad = "static inline int f(int a)\n{\n    int b[2] = {a, a};\n    return b[2] + (a - a);\n}\n"
    write(tree, "lib/base/disk.h", HEADER + bad)
    assert lint(tree, name).returncode != 0
    write(tree, "lib/base/disk.h", HEADER)
    assert lint(tree, name).returncode == 0


def test_the_lenders_are_there():
    lenders = runpy.run_path(str(ROOT / "test/lint/borrowed.py"))["LENDERS"]
    declared = "".join(path.read_text() for room in ("controller", "lib", "node") for path in (ROOT / room).rglob("*.h"))
    assert [name for name in lenders.split("|") if f"{name}(" not in declared] == []


def test_the_tools_are_there():
    for tool in ("clang-format-14", "clang-tidy-14", "clang-14", "cppcheck"):
        assert shutil.which(tool), tool
