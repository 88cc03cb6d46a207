#include "scheduler-extender/complaint.h"

enum { PAUSE_MS = 10 * 1000 };

bool complaint_is_due(struct complaint *complaint, const struct loop *loop)
{
    if (loop_now(loop) < complaint->next)
        return false;
    complaint->next = loop_deadline(loop, PAUSE_MS);
    return true;
}
