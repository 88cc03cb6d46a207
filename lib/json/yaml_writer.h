/* yaml_writer.h - JSON values as YAML, for people and for whoever reads YAML.
 *
 * Block style, in ASCII only. A string is quoted unless no reader of YAML 1.1 or 1.2 could take it
 * for anything else, and one that has line breaks or control characters stays on its line, with
 * escapes. yaml_parse() reads the same value again. Any thread; recurses with the document's depth.
 */
#pragma once

#include <jansson.h>

/* With a line break at its end; free() it. */
char *yaml_to_text(const json_t *json) __attribute__((warn_unused_result));
