"""Programs are started although the kernel fails at it: gVisor's, rarely, answers EFAULT to the execve of a program that is there."""

import errno
import subprocess

ATTEMPTS = 3


class Popen(subprocess.Popen):
    """Tries again; nothing of the program has run yet."""

    def __init__(self, *arguments, **options):
        for left in reversed(range(ATTEMPTS)):
            try:
                return super().__init__(*arguments, **options)
            except OSError as error:
                if error.errno != errno.EFAULT or not left:
                    raise


def try_again() -> None:
    """From now on, in this process."""
    subprocess.Popen = Popen
