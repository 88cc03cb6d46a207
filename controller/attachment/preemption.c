#include "controller/attachment/preemption.h"

#include <string.h>

static bool may_give_way(const struct neighbour *neighbour)
{
    return !neighbour->published && !neighbour->leaving && !neighbour->keeps_fence &&
           neighbour->lun != NO_LUN;
}

/* Among equals the one that has been there for longest, so that a replica that has just been moved
 * is not moved again. */
static bool goes_before(const struct neighbour *a, const struct neighbour *b)
{
    int age = strcmp(a->since, b->since);

    if (a->unready != b->unready)
        return a->unready;
    if (a->needed != b->needed)
        return !a->needed;
    if (a->priority != b->priority)
        return a->priority < b->priority;
    if ((a->other_replicas > 0) != (b->other_replicas > 0))
        return a->other_replicas > 0;
    return age != 0 ? age < 0 : strcmp(a->name, b->name) < 0;
}

size_t preemption_victim(const struct neighbour *neighbours, size_t n)
{
    size_t first = n;

    for (size_t i = 0; i < n; i++)
        if (may_give_way(&neighbours[i]) &&
            (first == n || goes_before(&neighbours[i], &neighbours[first])))
            first = i;
    return first;
}
