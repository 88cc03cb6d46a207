/* parsed.h - JSON documents of the simulation whose texts are known, so that nobody parses them.
 *
 * Every controller reads the same lines of watches, and the server has as values what it says;
 * parsing it all again was a quarter of the simulation's time. json_parse() of azdisk-sim comes
 * here first (test/sim/known_json.c). One value is given to all who read the text, so none may
 * change it: one of many is compared with its text when it is forgotten, and the simulation aborts
 * if they differ.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Takes the reference of what the text says. A number of documents are kept, newer instead of older
 * ones. */
void parsed_remember(const char *text, size_t length, json_t *json);

/* A new reference; NULL if it is not known. */
json_t *parsed_find(const char *text, size_t length);
