"""Shells at a terminal, with azdiskctl's completion switched on: bash, and zsh and fish of Debian's packages.

Each is given two keys: ^Xi inserts all that it would offer, and ^Xl says what the line is then, and empties it.
"""

import os
import pty
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cluster.debian import unpacked

PACKAGES = ("zsh", "zsh-common", "fish", "fish-common", "libcap2", "libpcre2-32-0")


class Kind(NamedTuple):
    words: tuple[str | Path, ...]
    setup: str


def _packaged() -> tuple[Path, tuple[str, ...]]:
    """Where the packages are, and the words that come before a program of theirs."""
    root = unpacked("shells", PACKAGES)
    return root, ("env", f"LD_LIBRARY_PATH={root}/usr/lib/x86_64-linux-gnu")


def _bash() -> Kind:
    return Kind(("bash", "--norc", "--noprofile", "-i"), r"""
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
bind '"\C-xi": insert-completions'
bind -x '"\C-xl": echo "<$READLINE_LINE>"; READLINE_LINE='
source <(azdiskctl completion bash)
PS1=; echo "<rea""dy>"
""")


def _zsh() -> Kind:
    """`all` completes with all matches."""
    root, words = _packaged()
    modules = next(root.glob("usr/lib/*/zsh/*"))
    return Kind((*words, root / "bin/zsh", "-f", "-i"), f"""
module_path=({modules}); fpath=({root}/usr/share/zsh/functions/**/*(/))
autoload -Uz compinit _generic; compinit -D -u
zstyle ':completion:all:*' completer _all_matches _complete
zstyle ':completion:all:*' insert true
zle -C all complete-word _generic; bindkey '^Xi' all
said() {{ zle -I; print -r -- "<$BUFFER>"; BUFFER= }}
zle -N said; bindkey '^Xl' said
source <(azdiskctl completion zsh)
PS1=; print "<rea""dy>"
""")


def _fish() -> Kind:
    root, words = _packaged()
    functions = f"set fish_function_path {root}/usr/share/fish/functions"
    return Kind((*words, root / "usr/bin/fish", "--no-config", "-i", "-C", functions), r"""
function fish_prompt; end
bind \cxi 'commandline -t (complete -C | string replace -r "\t.*" "" | string join " ")" "'
bind \cxl 'echo "<"(commandline)">"; commandline ""'
azdiskctl completion fish | source
echo "<rea""dy>"
""")


KINDS: dict[str, Callable[[], Kind]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}


class Shell:
    def __init__(self, name: str, environment: dict[str, str], folder: Path):
        kind = KINDS[name]()
        plain = {"INPUTRC": "/dev/null", "LANG": "C.UTF-8", "TERM": "dumb"}
        self.terminal, end = pty.openpty()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", *kind.words], stdin=end, stdout=end, stderr=end, cwd=folder,
            env=environment | plain,
        )  # fmt: skip
        os.close(end)
        self._type(kind.setup.replace("\n", "\r"))
        assert self._next_line() == "ready"

    def _type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def _next_line(self) -> str:
        seen = ""
        while not (found := re.search(r"<([^<>\r\n]*)>\r\n", seen)):
            seen += os.read(self.terminal, 4096).decode(errors="replace")
        return found[1]

    def offered(self, line: str) -> str:
        """The line with everything that may stand at its end."""
        self._type(line + "\x18i\x18l")
        return self._next_line()

    def after_tab(self, line: str) -> str:
        self._type(line + "\t\x18l")
        return self._next_line()

    def close(self) -> None:
        """With its terminal it ends, too."""
        os.close(self.terminal)
        self.process.kill()
        self.process.wait()
