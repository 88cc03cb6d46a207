/* utf8.h - text that any other program can read.
 *
 * Output of other programs and names of files are bytes; JSON, gRPC and log collectors refuse what
 * is not UTF-8. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool utf8_is_valid(const char *text);

/* How much of the text, at most so many bytes, ends where a character does. */
size_t utf8_cut(const char *text, size_t most);

/* Puts a '?' in place of every byte that is not part of a well-formed UTF-8 sequence. */
void utf8_repair(char *text);
