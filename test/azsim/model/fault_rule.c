#include "test/azsim/model/fault_rule.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/duration.h"
#include "lib/rt/random.h"

enum { NO_RETRY_AFTER = -1 };

static const struct fault_row rows[] = {
#define FAULT_ROW(fault, name, place, needs, what)                                                 \
    [FAULT_##fault] = {name, FAULT_AT_##place, FAULT_NEEDS_##needs},
    FAULTS(FAULT_ROW)
#undef FAULT_ROW
};

#define FAULT_NAME(fault, name, place, needs, what) " " name
static const char all_names[] = FAULTS(FAULT_NAME);

const struct fault_row *fault_row(enum fault_type type)
{
    return &rows[type];
}

/* ---- members of each type ---- */

struct member {
    const char *name;
    struct err *(*read)(const struct member *member, const json_t *value, struct fault *fault);
    size_t offset; /* of the member of struct fault that it sets */
    int64_t least, most;
};

#define MEMBER(fault, offset, type) ((type *)(void *)((char *)(fault) + (offset)))

static struct err *read_text(const struct member *member, const json_t *value, struct fault *fault)
{
    if (!json_is_string(value))
        return err_new(ERR_INVALID, "%s: expected a string", member->name);
    *MEMBER(fault, member->offset, const char *) = json_string_value(value);
    return NULL;
}

static struct err *read_number(const struct member *member, const json_t *value,
                               struct fault *fault)
{
    json_int_t number = json_integer_value(value);

    if (!json_is_integer(value) || number < member->least || number > member->most)
        return err_new(ERR_INVALID, "%s: expected a number from %lld to %lld", member->name,
                       (long long)member->least, (long long)member->most);
    *MEMBER(fault, member->offset, int) = (int)number;
    return NULL;
}

static struct err *read_flag(const struct member *member, const json_t *value, struct fault *fault)
{
    if (!json_is_boolean(value))
        return err_new(ERR_INVALID, "%s: expected true or false", member->name);
    *MEMBER(fault, member->offset, bool) = json_is_true(value);
    return NULL;
}

static struct err *read_wrapped(const struct member *member, const json_t *value,
                                struct fault *fault)
{
    fault->wrapped_said = true;
    return read_flag(member, value, fault);
}

static struct err *read_duration(const struct member *member, const json_t *value,
                                 struct fault *fault)
{
    uint64_t ms;

    if (!json_is_string(value))
        return err_new(ERR_INVALID, "%s: expected a string such as \"10s\"", member->name);
    struct err *err = duration_parse(json_string_value(value), &ms);
    if (err)
        return err_wrap(err, "%s", member->name);
    if (ms == 0)
        return err_new(ERR_INVALID, "%s: expected more than 0", member->name);
    *MEMBER(fault, member->offset, uint64_t) = ms;
    return NULL;
}

static struct err *read_name(const struct member *member, const json_t *value, struct fault *fault)
{
    const char *name = json_string_value(value);

    for (int i = 0; name && i < FAULT_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0) {
            fault->type = (enum fault_type)i;
            return NULL;
        }
    return err_new(ERR_INVALID, "%s: \"%s\" is not a fault; it must be one of%s", member->name,
                   name ? name : "", all_names);
}

/* "3", "2-5", "4-" */
static struct err *read_calls(const struct member *member, const json_t *value, struct fault *fault)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    char *end;

    fault->first = strtoull(text, &end, 10);
    fault->last = fault->first;
    if (*end == '-' && end[1])
        fault->last = strtoull(end + 1, &end, 10);
    else if (*end == '-' && end++ != text)
        fault->last = UINT64_MAX;
    if (*end || text[0] == '-' || fault->first == 0 || fault->last < fault->first)
        return err_new(ERR_INVALID, "%s: expected \"3\", \"2-5\" or \"4-\", counted from 1",
                       member->name);
    return NULL;
}

static struct err *read_probability(const struct member *member, const json_t *value,
                                    struct fault *fault)
{
    double probability = json_number_value(value);

    if (!json_is_number(value) || !(probability > 0 && probability <= 1))
        return err_new(ERR_INVALID, "%s: expected a number above 0 and up to 1", member->name);
    fault->probability = probability;
    return NULL;
}

static struct err *read_seed(const struct member *member, const json_t *value, struct fault *fault)
{
    if (!json_is_integer(value))
        return err_new(ERR_INVALID, "%s: expected a number", member->name);
    fault->random->state = (uint64_t)json_integer_value(value);
    return NULL;
}

static struct err *read_by(const struct member *member, const json_t *value, struct fault *fault)
{
    const char *by = json_string_value(value);

    if (!by || (strcmp(by, "compute") != 0 && strcmp(by, "resourceManager") != 0))
        return err_new(ERR_INVALID, "%s: expected \"compute\" or \"resourceManager\"",
                       member->name);
    fault->by = by;
    return NULL;
}

#define AT(name) offsetof(struct fault, name)

static const struct member members[] = {
    {"fault", read_name, 0, 0, 0},
    {"kind", read_text, AT(kind), 0, 0},
    {"resource", read_text, AT(resource), 0, 0},
    {"disk", read_text, AT(disk), 0, 0},
    {"zone", read_text, AT(zone), 0, 0},
    {"operationStatus", read_text, AT(operation_status), 0, 0},
    {"calls", read_calls, 0, 0, 0},
    {"probability", read_probability, 0, 0, 0},
    {"seed", read_seed, 0, 0, 0},
    {"for", read_duration, AT(for_ms), 0, 0},
    {"code", read_text, AT(code), 0, 0},
    {"message", read_text, AT(message), 0, 0},
    {"status", read_number, AT(status), 300, 599},
    {"wrapped", read_wrapped, AT(wrapped), 0, 0},
    {"by", read_by, 0, 0, 0},
    {"retryAfter", read_number, AT(retry_after_s), 0, 86400},
    {"asDate", read_flag, AT(as_date), 0, 0},
    {"host", read_text, AT(host), 0, 0},
    {"time", read_duration, AT(time_ms), 0, 0},
};

/* ---- a rule ---- */

static struct err *read_member(const char *name, const json_t *value, struct fault *fault)
{
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (strcmp(members[i].name, name) == 0)
            return members[i].read(&members[i], value, fault);
    return err_new(ERR_INVALID, "%s: unknown member; test/azsim/README.md lists them", name);
}

static struct err *check(const struct fault *fault)
{
    enum fault_needs needs = rows[fault->type].needs;

    if (needs == FAULT_NEEDS_CODE && !fault->code)
        return err_new(ERR_INVALID, "code: missing; \"%s\" requires it", rows[fault->type].name);
    if (needs == FAULT_NEEDS_TIME && !fault->time_ms)
        return err_new(ERR_INVALID, "time: missing; \"%s\" requires it", rows[fault->type].name);
    return NULL;
}

struct err *fault_read(const json_t *json, struct fault **ret)
{
    CLEANUP(fault_freep) struct fault *fault = mem_alloc(sizeof *fault);
    const char *name;
    json_t *value;

    if (!json_is_object(json))
        return err_new(ERR_INVALID, "a rule: expected an object");
    if (!json_object_get(json, "fault"))
        return err_new(ERR_INVALID, "fault: missing; it must be one of%s", all_names);
    fault->json = json_deep_copy(json);
    fault->random = mem_alloc(sizeof *fault->random);
    fault->random->state = 1;
    fault->first = 1;
    fault->last = UINT64_MAX;
    fault->probability = 1;
    fault->retry_after_s = NO_RETRY_AFTER;
    json_object_foreach(fault->json, name, value)
        TRY(read_member(name, value, fault));
    TRY(check(fault));
    *ret = TAKE_PTR(fault);
    return NULL;
}

void fault_free(struct fault *fault)
{
    if (!fault)
        return;
    json_decref(fault->json);
    free(fault->random);
    free(fault);
}
