/* How often a token is asked for, and what comes of a refusal, in virtual time. */
#include <stdlib.h>

#include "lib/base/base64.h"
#include "test/unit/provisioner-lib/azure/login.h"

/* ---- how often ---- */

enum { MANY = 20 };

static void test_many_wait_for_one_request(void **state)
{
    struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);
    struct need needs[MANY];

    (void)state;
    assert_ok(latencies_set(&login->azure->model->latencies, "token=2s"));
    for (int i = 0; i < MANY; i++)
        need_begin(login, &needs[i]);
    loop_advance(login->azure->loop, 1000);
    task_cancel(needs[0].task); /* the one for whom it was asked for */
    loop_advance(login->azure->loop, 2000);
    assert_int_equal(err_kind(needs[0].err), ERR_CANCELED);
    for (int i = 0; i < MANY; i++) {
        assert_true(needs[i].ended);
        assert_true(i == 0 || needs[i].authorization);
        need_fini(&needs[i]);
    }
    assert_int_equal(login->asked, 1);
    login_free(login);
}

static void test_renewed_before_it_ends_and_nobody_waits(void **state)
{
    struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);

    (void)state;
    expect_token(login);
    login_advance_minutes(login, 54);
    expect_token(login);
    assert_int_equal(login->asked, 1);
    assert_ok(latencies_set(&login->azure->model->latencies, "token=2s"));
    login_advance_minutes(login, 1);
    struct need need;
    need_begin(login, &need);
    loop_advance(login->azure->loop, 0);
    assert_true(need.ended);
    need_fini(&need);
    loop_advance(login->azure->loop, 3000);
    assert_int_equal(login->asked, 2);
    login_advance_minutes(login, 50);
    expect_token(login);
    assert_int_equal(login->asked, 2);
    login_free(login);
}

static void take_one(struct login *login)
{
    struct need need = need_token(login, 1000);

    assert_string_equal(need.authorization, "Bearer t");
    need_fini(&need);
    loop_advance(login->azure->loop, 100);
}

static void test_long_lived_ones_are_renewed_at_half_time(void **state)
{
    static const struct {
        const char *body;
        unsigned good_minutes;
    } tokens[] = {
        {"{\"access_token\": \"t\", \"expires_in\": 86400, \"token_type\": \"Bearer\"}", 719},
        {"{\"access_token\": \"t\", \"expires_in\": \"86400\", \"refresh_in\": \"600\"}", 9},
        {"{\"access_token\": \"t\", \"expires_in\": 60}", 0},
        {"{\"access_token\": \"t\", \"expires_in\": \"99999999999999999999\"}", 839},
        {"{\"access_token\": \"t\", \"expires_in\": 86400, \"refresh_in\": -1}", 719},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(tokens); i++) {
        struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);

        login->script = (struct scripted){.status = 200, .body = tokens[i].body};
        login->times = 10;
        take_one(login);
        login_advance_minutes(login, tokens[i].good_minutes);
        take_one(login);
        assert_int_equal(login->asked, 1);
        login_advance_minutes(login, 1);
        take_one(login);
        assert_int_equal(login->asked, 2);
        login_free(login);
    }
}

static void test_a_failed_renewal_hurts_nobody(void **state)
{
    struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);

    (void)state;
    expect_token(login);
    login->script = (struct scripted){.status = 500, .body = "<html>"};
    login->times = 2;
    login_advance_minutes(login, 56);
    for (int second = 0; second < 40; second++) {
        expect_token(login);
        loop_advance(login->azure->loop, 1000);
    }
    assert_int_equal(login->asked, 3); /* every half minute */
    loop_advance(login->azure->loop, 30 * 1000);
    expect_token(login);
    loop_advance(login->azure->loop, 1000);
    assert_int_equal(login->asked, 4);
    login_advance_minutes(login, 10);
    expect_token(login);
    assert_int_equal(login->asked, 4);
    login_free(login);
}

/* Somebody may have taken the right from us meanwhile; and Azure would refuse it anyway. */
static void test_a_token_is_not_used_beyond_its_end(void **state)
{
    struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);

    (void)state;
    expect_token(login);
    login->script = (struct scripted){.status = 500, .body = "<html>"};
    login->times = 1000;
    login_advance_minutes(login, 59);
    expect_token(login);
    login_advance_minutes(login, 2);
    expect_failure(login, 1000, ERR_UNAVAILABLE, "", "(HTTP 500)");
    login_free(login);
}

/* ---- refusals ---- */

static void test_a_refusal_is_for_all_and_not_repeated_at_once(void **state)
{
    struct login *login =
        login_new("{" BASE "aadClientId: '" CLIENT "', aadClientSecret: s3crwrong}", NULL, NULL);
    struct need needs[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++)
        need_begin(login, &needs[i]);
    loop_advance(login->azure->loop, 100);
    for (int i = 0; i < MANY; i++) {
        assert_string_equal(err_code(needs[i].err), "AADSTS7000215");
        need_fini(&needs[i]);
    }
    expect_failure(login, 0, ERR_DENIED, "AADSTS7000215", "Invalid client secret provided");
    assert_int_equal(login->asked, 1);
    for (int minute = 0; minute < 60; minute++) {
        expect_failure(login, 100, ERR_DENIED, "AADSTS7000215", "(HTTP 401)");
        login_advance_minutes(login, 1);
    }
    assert_in_range(login->asked, 30, 62);
    login_free(login);
}

static void test_refusals(void **state)
{
    static const struct {
        struct scripted script;
        enum err_kind kind;
        const char *code, *words;
    } rows[] = {
        {{500, NULL, NULL, "oops"}, ERR_UNAVAILABLE, "", "no reason given (HTTP 500)"},
        {{503, NULL, NULL, "{\"error\": \"temporarily_unavailable\"}"},
         ERR_UNAVAILABLE,
         "temporarily_unavailable",
         "(HTTP 503)"},
        {{400, NULL, NULL,
          "{\"error\": \"x\", \"error_description\": \"AADSTS90033: A transient error. Trace ID: "
          "1\"}"},
         ERR_UNAVAILABLE,
         "AADSTS90033",
         "A transient error. (HTTP 400)"},
        {{429, "Retry-After", "17", "{\"error\": \"slow_down\"}"},
         ERR_THROTTLED,
         "slow_down",
         "(HTTP 429)"},
        {{200, NULL, NULL, "{}"}, ERR_UNAVAILABLE, "", "access_token or expires_in is missing"},
        {{200, NULL, NULL, "not JSON"},
         ERR_UNAVAILABLE,
         "",
         "reading the answer to the token request"},
        {{307, "Location", "https://elsewhere", ""}, ERR_DENIED, "", "(HTTP 307)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);

        login->script = rows[i].script;
        login->times = 1;
        expect_failure(login, 1000, rows[i].kind, rows[i].code, rows[i].words);
        loop_advance(login->azure->loop, 20 * 1000);
        expect_token(login);
        login_free(login);
    }
}

/* It is a failure like any other: whoever needs one is told, and it is not asked for again before a
 * pause. */
static void test_tokens_that_have_ended_already(void **state)
{
    static const char *const lasts[] = {"0",    "\"0\"",    "-1",   "\"-3600\"",
                                        "\"\"", "\"soon\"", "null", "true"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lasts); i++) {
        CLEANUP(freep)
        char *body = mem_printf("{\"access_token\": \"x\", \"expires_in\": %s}", lasts[i]);
        struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);

        login->script = (struct scripted){.status = 200, .body = body};
        login->times = 1000;
        expect_failure(login, 1000, ERR_UNAVAILABLE, "", "expires_in");
        expect_failure(login, 1, ERR_UNAVAILABLE, "", "expires_in");
        assert_int_equal(login->asked, 1);
        login->times = 0;
        loop_advance(login->azure->loop, 20 * 1000);
        expect_token(login);
        login_free(login);
    }
}

static void test_nothing_is_sent_before_its_time(void **state)
{
    struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);

    (void)state;
    login->script = (struct scripted){429, "Retry-After", "170", "{}"};
    login->times = 1;
    expect_failure(login, 1000, ERR_THROTTLED, "", "no token");
    loop_advance(login->azure->loop, 169 * 1000);
    struct need need = need_token(login, 0);
    assert_int_equal(err_kind(need.err), ERR_THROTTLED);
    assert_in_range(err_retry_after_ms(need.err), 1, 1000);
    need_fini(&need);
    assert_int_equal(login->asked, 1);
    loop_advance(login->azure->loop, 1000);
    expect_token(login);
    login_free(login);
}

static void test_closing_while_it_is_asked_for(void **state)
{
    struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);
    struct need need;

    (void)state;
    assert_ok(latencies_set(&login->azure->model->latencies, "token=2s"));
    need_begin(login, &need);
    loop_advance(login->azure->loop, 1000);
    login_close(login);
    loop_advance(login->azure->loop, 0);
    assert_true(need.ended);
    assert_int_equal(err_kind(need.err), ERR_CANCELED);
    need_fini(&need);
    login_free(login);
}

/* ---- what Resource Manager refuses ---- */

/* {"access_token":{"nbf":{"essential":true,"value":"1767225600"}}} */
#define CLAIMS                                                                                     \
    "eyJhY2Nlc3NfdG9rZW4iOnsibmJmIjp7ImVzc2VudGlhbCI6dHJ1ZSwidmFsdWUiOiIxNzY3MjI1NjAwIn19fQ=="
#define CAPABLE "%22xms_cc%22%3A%7B%22values%22%3A%5B%22CP1%22%5D%7D"
#define DEMANDED "%22nbf%22%3A%7B%22essential%22%3Atrue%2C%22value%22%3A%221767225600%22%7D"

static void turn_away(struct login *login, const char *authorization, const char *challenge)
{
    struct http_header header = {"WWW-Authenticate", challenge};

    credential_refused(
        login->credential, authorization,
        &(struct http_response){.status = 401, .headers = &header, .n_headers = challenge ? 1 : 0});
}

static void test_claims_are_asked_for_once(void **state)
{
    struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);
    struct need first = need_token(login, 1000);

    (void)state;
    assert_non_null(strstr(login->last_form, CAPABLE));
    assert_null(strstr(login->last_form, DEMANDED));
    turn_away(
        login, first.authorization,
        "Bearer authorization_uri=\"https://x\", error=\"insufficient_claims\", claims=\"" CLAIMS
        "\"");
    /* The others that were under way have the same answer. */
    turn_away(login, first.authorization, NULL);
    loop_advance(login->azure->loop, 1000);
    expect_token(login);
    turn_away(login, first.authorization, NULL);
    expect_token(login);
    assert_int_equal(login->asked, 2);
    assert_non_null(strstr(login->last_form, CAPABLE));
    assert_non_null(strstr(login->last_form, DEMANDED));

    struct need second = need_token(login, 1000);
    turn_away(login, second.authorization, "Bearer error=\"invalid_token\"");
    expect_token(login);
    assert_int_equal(login->asked, 3);
    assert_null(strstr(login->last_form, DEMANDED));
    need_fini(&first);
    need_fini(&second);
    login_free(login);
}

static void test_challenges_that_make_no_sense(void **state)
{
    static const char *const challenges[] = {
        "",
        "Bearer",
        "claims=",
        "Bearer claims=\"",
        "Bearer claims=\"!!!\"",
        "Bearer claims=\"bm8=\"",
        "Bearer claims=\"\"",
        "Bearer claims=\"W10\"",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(challenges); i++) {
        struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);
        struct need need = need_token(login, 1000);

        turn_away(login, need.authorization, challenges[i]);
        expect_token(login);
        assert_non_null(strstr(login->last_form, CAPABLE));
        need_fini(&need);
        login_free(login);
    }
}

static char *repeated(char c, int times)
{
    char *text = mem_alloc((size_t)times + 1);

    memset(text, c, (size_t)times);
    return text;
}

static void expect_claims(const char *claims, bool read)
{
    CLEANUP(freep) char *encoded = base64_encode(claims, strlen(claims));
    CLEANUP(freep) char *challenge = mem_printf("Bearer claims=\"%s\"", encoded);
    struct login *login = login_new("{" BY_SECRET "}", NULL, NULL);
    struct need need = need_token(login, 1000);

    turn_away(login, need.authorization, challenge);
    expect_token(login);
    assert_non_null(strstr(login->last_form, CAPABLE));
    assert_int_equal(strstr(login->last_form, "nbf") != NULL, read);
    need_fini(&need);
    login_free(login);
}

/* {"nbf":[[...]]}: as deep as any JSON is read, and deeper. */
static void test_claims_that_are_nested(void **state)
{
    static const struct {
        int depth;
        bool read;
    } rows[] = {{60, true}, {1500, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *opened = repeated('[', rows[i].depth);
        CLEANUP(freep) char *closed = repeated(']', rows[i].depth);
        CLEANUP(freep) char *claims = mem_printf("{\"nbf\":%s%s}", opened, closed);

        expect_claims(claims, rows[i].read);
    }
}

/* {"nbf":"++..."}: in a form, each of these bytes becomes three. */
static void test_claims_that_are_long(void **state)
{
    static const struct {
        int length;
        bool read;
    } rows[] = {{5 * 1000, true}, {100 * 1000, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = repeated('+', rows[i].length);
        CLEANUP(freep) char *claims = mem_printf("{\"nbf\":\"%s\"}", text);

        expect_claims(claims, rows[i].read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_wait_for_one_request),
        cmocka_unit_test(test_renewed_before_it_ends_and_nobody_waits),
        cmocka_unit_test(test_long_lived_ones_are_renewed_at_half_time),
        cmocka_unit_test(test_a_failed_renewal_hurts_nobody),
        cmocka_unit_test(test_a_token_is_not_used_beyond_its_end),
        cmocka_unit_test(test_a_refusal_is_for_all_and_not_repeated_at_once),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_tokens_that_have_ended_already),
        cmocka_unit_test(test_nothing_is_sent_before_its_time),
        cmocka_unit_test(test_closing_while_it_is_asked_for),
        cmocka_unit_test(test_claims_are_asked_for_once),
        cmocka_unit_test(test_challenges_that_make_no_sense),
        cmocka_unit_test(test_claims_that_are_nested),
        cmocka_unit_test(test_claims_that_are_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
