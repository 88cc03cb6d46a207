#include "test/azsim/model/fault.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/rt/random.h"
#include "test/azsim/model/fault_rule.h"

struct faults {
    struct fault **rules; /* the first to come first */
    size_t n;
    unsigned last_id;
};

struct faults *faults_new(void)
{
    return mem_alloc(sizeof(struct faults));
}

void faults_free(struct faults *faults)
{
    if (!faults)
        return;
    faults_clear(faults);
    free(faults);
}

void faults_clear(struct faults *faults)
{
    for (size_t i = 0; i < faults->n; i++)
        fault_free(faults->rules[i]);
    free(faults->rules);
    faults->rules = NULL;
    faults->n = 0;
}

/* ---- changing ---- */

struct err *faults_add(struct faults *faults, const json_t *rule, const struct fault **ret)
{
    struct fault *fault;

    if (faults->n == FAULTS_MOST)
        return err_new(ERR_EXHAUSTED, "there are %d rules already", FAULTS_MOST);
    TRY(fault_read(rule, &fault));
    fault->id = ++faults->last_id;
    ARRAY_ADD(faults->rules, faults->n) = fault;
    *ret = fault;
    return NULL;
}

struct err *faults_add_all(struct faults *faults, const json_t *rules)
{
    const json_t *list = json_is_object(rules) ? json_object_get(rules, "faults") : rules;
    size_t i, before = faults->n;
    const struct fault *fault;
    json_t *rule;

    if (!json_is_array(list))
        return err_new(ERR_INVALID, "expected a list of rules");
    json_array_foreach(list, i, rule) {
        struct err *err = faults_add(faults, rule, &fault);

        if (!err)
            continue;
        while (faults->n > before)
            fault_free(faults->rules[--faults->n]);
        return err_wrap(err, "faults[%zu]", i);
    }
    return NULL;
}

bool faults_remove(struct faults *faults, unsigned id)
{
    for (size_t i = 0; i < faults->n; i++) {
        if (faults->rules[i]->id != id)
            continue;
        fault_free(faults->rules[i]);
        faults->n--;
        memmove(&faults->rules[i], &faults->rules[i + 1], (faults->n - i) * sizeof *faults->rules);
        return true;
    }
    return false;
}

/* ---- striking ---- */

static bool fits(const char *pattern, const char *text)
{
    return !pattern || (text && fnmatch(pattern, text, FNM_CASEFOLD) == 0);
}

/* Whether a body names a disk: its id ends a string there. */
static bool body_names(const char *body, const char *disk)
{
    CLEANUP(freep) char *end = mem_printf("/disks/%s\"", disk);

    return strcasestr(body, end);
}

static bool fits_disk(const char *disk, const struct fault_subject *subject)
{
    if (!disk)
        return true;
    if (subject->disk)
        return strcasecmp(disk, subject->disk) == 0;
    return subject->body && body_names(subject->body, disk);
}

static bool matches(const struct fault *fault, const struct fault_subject *subject)
{
    return fits(fault->kind, subject->kind) && fits(fault->resource, subject->resource) &&
           fits(fault->zone, subject->zone) &&
           fits(fault->operation_status, subject->operation_status) &&
           fits_disk(fault->disk, subject);
}

static bool is_over(const struct fault *fault, uint64_t now_ms)
{
    return fault->for_ms && fault->struck && now_ms - fault->first_strike_ms >= fault->for_ms;
}

static bool happens(const struct fault *fault)
{
    static const double ONE = 18446744073709551616.0; /* 2^64 */

    return fault->probability >= 1 || random_next(fault->random) < fault->probability * ONE;
}

static bool strikes(struct fault *fault, enum fault_place place,
                    const struct fault_subject *subject, uint64_t now_ms)
{
    if (fault_row(fault->type)->place != place || is_over(fault, now_ms) ||
        !matches(fault, subject))
        return false;
    fault->matched++;
    if (fault->matched < fault->first || fault->matched > fault->last || !happens(fault))
        return false;
    if (fault->struck++ == 0)
        fault->first_strike_ms = now_ms;
    return true;
}

const struct fault *faults_strike(struct faults *faults, enum fault_place place,
                                  const struct fault_subject *subject, uint64_t now_ms)
{
    for (size_t i = 0; i < faults->n; i++)
        if (strikes(faults->rules[i], place, subject, now_ms))
            return faults->rules[i];
    return NULL;
}

/* ---- looking ---- */

const char *fault_type_name(enum fault_type type)
{
    return fault_row(type)->name;
}

json_t *fault_json(const struct fault *fault)
{
    json_t *json = json_pack("{s:i, s:I, s:I}", "id", (int)fault->id, "matched",
                             (json_int_t)fault->matched, "struck", (json_int_t)fault->struck);

    json_object_update(json, fault->json);
    return json;
}

json_t *faults_json(const struct faults *faults)
{
    json_t *list = json_array();

    for (size_t i = 0; i < faults->n; i++)
        json_array_append_new(list, fault_json(faults->rules[i]));
    return json_pack("{s:o}", "faults", list);
}
