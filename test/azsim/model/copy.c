#include "test/azsim/model/copy.h"

bool copy_is_done(const struct copy *copy, int64_t now_us)
{
    return !copy->stopped_us && now_us >= copy->end_us;
}

double copy_percent(const struct copy *copy, int64_t now_us)
{
    int64_t until = copy->stopped_us ? copy->stopped_us : now_us;

    if (until >= copy->end_us)
        return 100;
    int64_t tenths = (until - copy->start_us) * 1000 / (copy->end_us - copy->start_us);
    return tenths < 0 ? 0 : (double)tenths / 10;
}

json_t *copy_json(const struct copy *copy)
{
    return json_pack("[I, I, I]", (json_int_t)copy->start_us, (json_int_t)copy->end_us,
                     (json_int_t)copy->stopped_us);
}

struct copy copy_from_json(const json_t *json)
{
    struct copy copy = {json_integer_value(json_array_get(json, 0)),
                        json_integer_value(json_array_get(json, 1)),
                        json_integer_value(json_array_get(json, 2))};

    return copy;
}
