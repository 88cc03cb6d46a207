"""A process, and what it starts, on a kernel of before Linux 5.1, by a seccomp filter:

    old_kernel.py PROGRAM [ARGUMENT ...]

It is a program of its own, as what a process with threads of gRPC does between fork and exec may end it."""

import ctypes
import os
import struct
import sys
from pathlib import Path

OLD_KERNEL = (sys.executable, Path(__file__))

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD_WORD, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x35, 0x06
ALLOW, NO_SUCH_CALL = 0x7FFF0000, 0x00050000 | 38  # ENOSYS
FIRST_NEW_CALL = 424  # since then all architectures number a new call alike

_libc = ctypes.CDLL(None, use_errno=True)


def _begin() -> None:
    """System calls that came later answer ENOSYS, as they do there."""
    rows = [
        (LOAD_WORD, 0, 0, 0),  # of what is asked, its number
        (JUMP_IF_AT_LEAST, 0, 1, FIRST_NEW_CALL),
        (RETURN, 0, 0, NO_SUCH_CALL),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code))
    if _libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_SECCOMP")


if __name__ == "__main__":
    _begin()
    os.execvp(sys.argv[1], sys.argv[1:])
