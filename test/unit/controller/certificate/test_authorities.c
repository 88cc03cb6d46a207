/* Which authorities are trusted: never without that of a certificate in use, and never more than
 * two. */
#include "controller/certificate/authorities.h"

#include <stdlib.h>

#include "controller/certificate/pair.h"
#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define HOUR_MS (UINT64_C(60) * 60 * 1000)
#define NOW INT64_C(1795000000000000)

enum { A, B, C, OVER, N };

/* Each made an hour after the one before; OVER has expired. */
static struct certificate_pair pairs[N];

static int make_all(void **state)
{
    static const int64_t made_hours[N] = {-3, -2, -1, -200};

    (void)state;
    for (size_t i = 0; i < N; i++)
        assert_ok(certificate_pair_make("a.b.svc", NOW + made_hours[i] * 3600 * 1000000,
                                        100 * HOUR_MS, &pairs[i]));
    return 0;
}

static int drop_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        certificate_pair_fini(&pairs[i]);
    return 0;
}

/* Those of the letters "ABCo"; '?' is no certificate. free() it. */
static char *bundle_of(const char *letters)
{
    char *bundle = mem_strdup("");

    for (; *letters; letters++) {
        static const char names[] = "ABCo";
        const char *name = strchr(names, *letters);
        char *longer =
            mem_printf("%s# %c\n%s", bundle, *letters,
                       name ? pairs[name - names].authority : "-----BEGIN CERTIFICATE-----\nx");

        free(bundle);
        bundle = longer;
    }
    return bundle;
}

static void test_wanted(void **state)
{
    const struct {
        const char *bundle, *current, *next, *wanted;
    } rows[] = {
        {"", "A", NULL, "A"},     {"A", "A", NULL, "A"},    {"A", "A", "B", "AB"},
        {"AB", "A", "B", "AB"},   {"AB", "B", NULL, "AB"}, /* what extenders may still show */
        {"AB", "B", "C", "BC"},                            /* the next rotation: no third */
        {"ABC", "C", NULL, "BC"}, {"CBA", "C", NULL, "BC"}, {"BA", "C", NULL, "BC"},
        {"o", "A", NULL, "A"},    {"oB", "A", NULL, "AB"},  {"AA", "A", NULL, "A"},
        {"?", "A", NULL, "A"},    {"B?C", "A", NULL, "AB"}, {"oA", "o", "A", "oA"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *bundle = bundle_of(rows[i].bundle);
        CLEANUP(freep) char *current = bundle_of(rows[i].current);
        CLEANUP(freep) char *next = rows[i].next ? bundle_of(rows[i].next) : NULL;
        CLEANUP(freep) char *expected = bundle_of(rows[i].wanted);
        CLEANUP(freep) char *wanted = authorities_wanted(bundle, current, next, NOW);

        if (!authorities_are(wanted, expected) || !authorities_are(expected, wanted))
            fail_msg("row %zu: %s", i, wanted);
    }
}

/* Of a Secret, one authority is the certificate's; what else there is has issued nothing. */
static void test_only_the_first_of_a_file_counts(void **state)
{
    CLEANUP(freep) char *many = bundle_of("ABC");
    CLEANUP(freep) char *one = bundle_of("A");
    CLEANUP(freep) char *wanted = authorities_wanted("", many, NULL, NOW);

    (void)state;
    assert_true(authorities_are(wanted, one));
}

static void test_equal(void **state)
{
    static const struct {
        const char *bundle, *wanted;
        bool equal;
    } rows[] = {
        {"A", "A", true},  {"AB", "BA", true}, {"A", "AB", false}, {"AB", "A", false},
        {"A", "B", false}, {"", "A", false},   {"AA", "A", false}, {"AA", "AB", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *bundle = bundle_of(rows[i].bundle);
        CLEANUP(freep) char *wanted = bundle_of(rows[i].wanted);

        if (authorities_are(bundle, wanted) != rows[i].equal)
            fail_msg("row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wanted),
        cmocka_unit_test(test_only_the_first_of_a_file_counts),
        cmocka_unit_test(test_equal),
    };

    return cmocka_run_group_tests(tests, make_all, drop_all);
}
