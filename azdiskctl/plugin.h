/* plugin.h - azdiskctl as a plug-in of kubectl, which runs it by other names: kubectl-azdisk, and
 * kubectl_complete-azdisk with the words that a person has typed behind "kubectl azdisk".
 */
#pragma once

#include <stdbool.h>

/* How a person calls it: "azdiskctl" or "kubectl azdisk". */
const char *plugin_spoken(const char *called);
bool plugin_completes(const char *called);
