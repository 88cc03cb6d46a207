"""Of every pytest process."""

import execve

execve.try_again()
