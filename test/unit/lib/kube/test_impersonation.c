/* Each row is what a person and a kubeconfig's user say, and the headers or the error. */
#include "lib/kube/impersonation.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/kube/client.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define UNSENDABLE "is empty, begins or ends with a blank, or has a control character"

static const struct {
    const char *chosen; /* "USER UID GROUP GROUP", - is what is not said; NULL: nothing */
    const char *user;
    const char *headers, *fault;
} rows[] = {
    {NULL, "{}", "", NULL},
    {NULL, "{'as': null, 'as-uid': null, 'as-groups': null, 'as-user-extra': null}", "", NULL},
    {NULL, "{'as': '', 'as-uid': '', 'as-groups': [], 'as-user-extra': {}}", "", NULL},
    {NULL, "{'as': 'bob'}", "User=bob", NULL},
    {NULL,
     "{'as': 'bob', 'as-uid': '7', 'as-groups': ['CN=a,O=b', 'c d'], 'as-user-extra':"
     " {'scopes': ['x', 'y'], 'Acme.com/a b%': ['z'], 'none': [], 'null': null}}",
     "User=bob|Uid=7|Group=CN=a,O=b|Group=c d|Extra-scopes=x|Extra-scopes=y|"
     "Extra-Acme.com%2Fa%20b%25=z",
     NULL},
    {NULL, "{'as': 'J\u00fcrgen', 'as-user-extra': {'\u00fc:\\u0001': ['x']}}",
     "User=J\u00fcrgen|Extra-%C3%BC%3A%01=x", NULL},

    {"eve", "{}", "User=eve", NULL},
    {"eve - CN=a,O=b c", "{}", "User=eve|Group=CN=a,O=b|Group=c", NULL},
    {"eve 8 g", "{'as': 'bob', 'as-uid': '7', 'as-groups': ['a'], 'as-user-extra': {'k': ['x']}}",
     "User=eve|Uid=8|Group=g|Extra-k=x", NULL},
    {"eve", "{'as': 'bob', 'as-uid': '7', 'as-groups': ['a']}", "User=eve|Uid=7|Group=a", NULL},
    {"- - g", "{'as': 'bob', 'as-groups': ['a']}", "Group=g|User=bob", NULL},

    {"- 8", "{}", NULL, "a uid, but no user to impersonate (as)"},
    {"- - g", "{}", NULL, "groups, but no user to impersonate (as)"},
    {NULL, "{'as-uid': '7'}", NULL, "a uid, but no user to impersonate (as)"},
    {NULL, "{'as': '', 'as-groups': ['a']}", NULL, "groups, but no user to impersonate (as)"},
    {NULL, "{'as-user-extra': {'k': ['x']}}", NULL,
     "extra values, but no user to impersonate (as)"},

    {"a\tb", "{}", NULL, "--as: " UNSENDABLE},
    {"a\x7f", "{}", NULL, "--as: " UNSENDABLE},
    {"a 7\r\nX-Y:z", "{}", NULL, "--as-uid: " UNSENDABLE},
    {"a 7 b\n", "{}", NULL, "--as-group: " UNSENDABLE},
    {"a 7 ", "{}", NULL, "--as-group: " UNSENDABLE},

    {NULL, "{'as': 7}", NULL, "as is not a string; put it in quotes"},
    {NULL, "{'as': ' '}", NULL, "as: " UNSENDABLE},
    {NULL, "{'as': 'a '}", NULL, "as: " UNSENDABLE},
    {NULL, "{'as': ' a'}", NULL, "as: " UNSENDABLE},
    {NULL, "{'as': 'a\\r\\nImpersonate-Group: system:masters'}", NULL, "as: " UNSENDABLE},
    {NULL, "{'as': 'a', 'as-uid': '7\\n'}", NULL, "as-uid: " UNSENDABLE},
    {NULL, "{'as': 'a', 'as-uid': 7}", NULL, "as-uid is not a string; put it in quotes"},
    {NULL, "{'as': 'a', 'as-groups': 'b'}", NULL, "as-groups is not a list"},
    {NULL, "{'as': 'a', 'as-groups': ['b', '']}", NULL, "as-groups[1]: " UNSENDABLE},
    {NULL, "{'as': 'a', 'as-groups': [7]}", NULL,
     "as-groups[0]: is not a string; put it in quotes"},
    {NULL, "{'as': 'a', 'as-user-extra': ['b']}", NULL, "as-user-extra is not a map of lists"},
    {NULL, "{'as': 'a', 'as-user-extra': {'k': 'b'}}", NULL, "as-user-extra \"k\" is not a list"},
    {NULL, "{'as': 'a', 'as-user-extra': {'k': ['b', '\\n']}}", NULL,
     "as-user-extra \"k\"[1]: " UNSENDABLE},
    {NULL, "{'as': 'a', 'as-user-extra': {'': ['b']}}", NULL, "as-user-extra has an empty key"},
};

static struct err *choose(const char *text, struct impersonation *ret)
{
    CLEANUP(freep) char *copy = mem_strdup(text ? text : "- -");
    const char *words[8] = {NULL};
    size_t n = 0;

    for (char *rest = copy, *word; (word = strsep(&rest, " "));)
        words[n++] = strcmp(word, "-") == 0 ? NULL : word;
    return impersonation_choose(&(struct impersonation_choice){.user = words[0],
                                                               .uid = n > 1 ? words[1] : NULL,
                                                               .groups = words + 2,
                                                               .n_groups = n > 2 ? n - 2 : 0},
                                ret);
}

static struct err *make(const char *chosen, const json_t *user, struct impersonation *ret)
{
    TRY(choose(chosen, ret));
    TRY(impersonation_add(user, ret));
    return impersonation_check(ret);
}

/* Without what all headers begin with. */
static char *summary(const struct impersonation *impersonation)
{
    char *text = mem_strdup("");

    for (size_t i = 0; i < impersonation->n; i++) {
        const struct http_header *header = &impersonation->headers[i];

        assert_memory_equal(header->name, "Impersonate-", 12);
        char *longer =
            mem_printf("%s%s%s=%s", text, *text ? "|" : "", header->name + 12, header->value);
        free(text);
        text = longer;
    }
    return text;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = script_text(rows[i].user);
        CLEANUP(json_decrefp) json_t *user = json_loads(text, 0, NULL);
        CLEANUP(impersonation_fini) struct impersonation impersonation = {0};

        assert_non_null(user);
        struct err *err = make(rows[i].chosen, user, &impersonation);
        if (rows[i].fault) {
            assert_fails(err, ERR_INVALID, rows[i].fault);
            continue;
        }
        assert_ok(err);
        CLEANUP(freep) char *got = summary(&impersonation);
        assert_string_equal(got, rows[i].headers);
    }
}

static void test_many_groups(void **state)
{
    CLEANUP(json_decrefp) json_t *user = json_pack("{s:s, s:[]}", "as", "a", "as-groups");
    CLEANUP(impersonation_fini) struct impersonation enough = {0}, many = {0};
    json_t *groups = json_object_get(user, "as-groups");

    (void)state;
    while (json_array_size(groups) < 1023)
        json_array_append_new(groups, json_string("g"));
    assert_ok(make(NULL, user, &enough));
    assert_int_equal(enough.n, 1024);
    json_array_append_new(groups, json_string("g"));
    assert_fails(make(NULL, user, &many), ERR_INVALID, "as-groups[1023]: is one of more than 1024");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_many_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
