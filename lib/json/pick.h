/* pick.h - a JSON object with only some of its members.
 */
#pragma once

#include <jansson.h>

/* The members on the paths ("metadata.name", "spec.volumeName"; NULL at the end) that are there, in
 * a new object. A path's last name may have dots, as those of annotations do. Values are shared
 * with `json`, not copied. */
json_t *json_pick(const json_t *json, const char *const *paths);
