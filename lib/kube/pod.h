/* pod.h - what a Pod says of itself. Pure; for any program.
 */
#pragma once

#include <stdbool.h>

#include "lib/api/kubernetes.pb-c.h"

/* Whether it runs or will run: it is not done. */
bool pod_is_live(const Api__Pod *pod);
