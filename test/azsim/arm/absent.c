/* Resources of Compute that there are none of: disk encryption sets, disk accesses, images,
 * availability sets. Clients list them and look for them; a policy forbids to make one. */
#include "test/azsim/arm/handlers.h"

/* The type in the path: the last word of a list, the one before the name of a resource. */
static const char *type_of(const struct exchange *exchange)
{
    const struct route_match *match = &exchange->match;

    return match->parts[match->n_parts - (match->name ? 2 : 1)];
}

void absent_list(struct exchange *exchange)
{
    answer_page(exchange, json_array(), 0);
}

void absent_get(struct exchange *exchange)
{
    answer_gateway(exchange, refuse(RESOURCE_NOT_FOUND, type_of(exchange), exchange->match.name,
                                    exchange->match.group));
}

void absent_put(struct exchange *exchange)
{
    answer_gateway(exchange, refuse(DISALLOWED_BY_POLICY, exchange->match.name));
}

void absent_delete(struct exchange *exchange)
{
    answer(exchange, 204, NULL);
}
