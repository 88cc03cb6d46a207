#include "lib/base/utf8.h"

#include <string.h>

/* Of the sequence that starts here; 0 if it is malformed. The second byte's range rules out
 * overlong forms, surrogates and what is beyond U+10FFFF (Unicode, table 3-7). */
static size_t sequence_length(const unsigned char *text)
{
    unsigned char first = text[0];
    unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4 || text[1] < least || text[1] > most)
        return 0;

    size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

bool utf8_is_valid(const char *text)
{
    while (*text) {
        size_t length = sequence_length((const unsigned char *)text);

        if (!length)
            return false;
        text += length;
    }
    return true;
}

size_t utf8_cut(const char *text, size_t most)
{
    size_t length = strnlen(text, most);

    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

void utf8_repair(char *text)
{
    while (*text) {
        size_t length = sequence_length((const unsigned char *)text);

        if (!length)
            *text = '?';
        text += length ? length : 1;
    }
}
