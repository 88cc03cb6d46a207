/* user_agent.h - the User-Agent by which Azure knows the controller.
 */
#pragma once

#include "controller/flags.h"

/* The flags take precedence over `configured`, that of the azure.json (NULL: none), and that over
 * `own`. */
char *user_agent_for_azure(const struct flags *flags, const char *configured, const char *own)
    __attribute__((warn_unused_result));
