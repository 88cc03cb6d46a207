#include "azdiskctl/log_cursor.h"

void log_cursor_reopen(struct log_cursor *cursor)
{
    cursor->is_behind = true;
    cursor->n_again = 0;
    cursor->last = 0;
}

static bool was_taken(struct log_cursor *cursor, int64_t us)
{
    if (us > cursor->us)
        return false;
    if (us < cursor->us && cursor->n_again == 0)
        return true;
    return cursor->n_again++ < cursor->n;
}

bool log_cursor_take(struct log_cursor *cursor, int64_t us)
{
    cursor->last = us;
    if (cursor->is_behind && was_taken(cursor, us))
        return false;
    cursor->is_behind = false;
    if (us > cursor->us) {
        cursor->us = us;
        cursor->n = 0;
    }
    cursor->n++;
    return true;
}

void log_cursor_advance(struct log_cursor *cursor, const struct log_cursor *other)
{
    if (other->us > cursor->us)
        *cursor = *other;
}
