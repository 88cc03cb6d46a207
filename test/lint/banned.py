"""Lint: functions that are not called here, because something better stands in their place."""

import re

from sources import code, files, main

# Functions, the files and folders that may call them, and what to do instead.
BANNED = (
    ("strcpy strcat sprintf vsprintf gets", (), "use mem_printf, buffer_printf or snprintf"),
    ("strtok", (), "use strsep or strtok_r"),
    ("atoi atol atoll atof", (), "use strtoll and look where it stopped"),
    ("system popen", (), "use subprocess_run, which takes an argument vector"),
    (
        "malloc calloc realloc reallocarray strdup strndup asprintf vasprintf",
        ("lib/base/alloc.c",),
        "use lib/base/alloc.h",
    ),
    (
        "time gettimeofday clock_gettime rand random",
        ("lib/rt/", "lib/base/log.c"),
        "take time and chance from the loop: loop_now, loop_wall_us, loop_random",
    ),
    ("sleep usleep nanosleep", ("lib/rt/thread_pool.c",), "use task_sleep, or wait for a condition"),
)


def check(root):
    for path in files(root, ".c", ".h"):
        text = code((root / path).read_text())
        for names, exempt, instead in BANNED:
            if any(str(path).startswith(prefix) for prefix in exempt):
                continue
            # Members and longer names are other functions.
            call = re.compile(rf"(?<![\w.])(?<!->)({names.replace(' ', '|')})\s*\(")
            for match in call.finditer(text):
                line = text.count("\n", 0, match.start(1)) + 1
                yield path, line, f"calls {match[1]}; {instead}"


if __name__ == "__main__":
    main(check)
