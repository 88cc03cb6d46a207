/* complete_run.h - what the shells' completions call: `azdiskctl __complete WORD...`, or azdiskctl
 * by the name by which kubectl asks a plug-in. Prints complete.h's answer, with the names of what
 * there is in the cluster, if it answers within a few seconds. Nobody is asked anything meanwhile.
 */
#pragma once

#include "azdiskctl/command.h"

bool complete_is_asked(int argc, char *const argv[]);
/* The exit status. */
int complete_run(int argc, char *argv[], const struct command *const *commands, size_t n);
