/* yaml.h - YAML documents as JSON values, for configuration files.
 *
 * One document of plain YAML: maps with string keys, lists, scalars by YAML 1.2's core schema, with
 * decimal numbers only (quoted scalars are strings). Aliases are refused: no file that we read has
 * them, and they let a small file grow without bound. Any thread; recurses YAML_MAX_DEPTH levels.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"

enum { YAML_MAX_DEPTH = 32 };

/* INVALID with line and column. An empty document is null. */
struct err *yaml_parse(const char *text, size_t length, json_t **ret_json)
    __attribute__((warn_unused_result));
