/* utf8.h - text that any other program can read.
 *
 * Output of other programs and names of files are bytes; JSON, gRPC and log collectors refuse what
 * is not UTF-8. Any thread.
 */
#pragma once

#include <stdbool.h>

bool utf8_is_valid(const char *text);

/* Puts a '?' in place of every byte that is not part of a well-formed UTF-8 sequence. */
void utf8_repair(char *text);
