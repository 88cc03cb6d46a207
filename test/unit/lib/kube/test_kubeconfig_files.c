/* Each row is a list of the files below, and what is found in them, or the whole text of the error.
 */
#include "lib/kube/kubeconfig_files.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/json/parse.h"
#include "test/unit/expect.h"

static char folder[] = "/tmp/test_kubeconfig_files.XXXXXX";

static const struct {
    const char *name, *text;
} files[] = {
    {"a", "current-context: ''\n"
          "clusters: [{name: k, cluster: {server: a}}, {name: bare}]\n"},
    {"b",
     "current-context: c\n"
     "clusters: [{name: k, cluster: {server: b, proxy-url: p}}, {name: l, cluster: {server: b}},"
     " {name: bare, cluster: {server: b}}, {cluster: {server: nameless}}]\n"
     "contexts: [{name: c, context: {user: b}}]\n"},
    {"c", "current-context: d\n"
          "contexts: [{name: d, context: {user: c}}, {name: c, context: {user: c}}]\n"
          "users: null\n"},
    {"empty", ""},
    {"comment", "# nothing else\n"},
    {"broken", "a: [\n"},
    {"list", "[]"},
    {"word", "hello"},
    {"map", "clusters: {}\n"},
    {"words", "users: [{name: u}, u]\n"},
    {"nulls", "users:\n-\n- name: u\n  user: {token: t}\nclusters: ~\n"},
    {"number", "contexts: [{name: 7}]\n"},
    {"current", "current-context: 7\n"},
    {"twice", "users: [{name: u, user: {token: a}}, {name: v}, {name: u, user: {token: b}}]\n"},
    {"many", "contexts: [{name: n1}, {name: n2}, {name: n3}, {name: n4}, {name: n5}, {name: n6},"
             " {name: n7}, {name: n8}, {name: n9}, {name: n10}, {name: n11}, {name: n12},"
             " {name: n13}, {name: n14}, {name: n15}, {name: n1}, {name: n16}, {name: n17},"
             " {name: n18}]\n"},
};

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) < 0)
        return -1;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        FILE *file = fopen(files[i].name, "we");

        if (!file || fputs(files[i].text, file) < 0 || fclose(file) != 0)
            return -1;
    }
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++)
        unlink(files[i].name);
    return rmdir(folder);
}

static struct err *find(const char *paths, const char *kind, const char *name, char **ret)
{
    CLEANUP(kubeconfig_files_fini) struct kubeconfig_files all = {0};
    struct kubeconfig_entry entry;
    const char *current = NULL;

    TRY(kubeconfig_files_read(paths, &all));
    if (!kind) {
        TRY(kubeconfig_files_current(&all, &current));
        *ret = mem_strdup(current);
        return NULL;
    }
    TRY(kubeconfig_files_find(&all, kind, name, &entry));
    assert_string_equal(entry.kind, kind);
    assert_string_equal(entry.name, name);
    CLEANUP(freep) char *text = entry.value ? json_to_text(entry.value) : mem_strdup("nothing");
    *ret = mem_printf("%s: %s", entry.path, text);
    return NULL;
}

static const struct {
    const char *paths, *kind, *name; /* of an entry; NULL: the current context */
    const char *found, *fault;
} rows[] = {
    {"b", NULL, NULL, "c", NULL},
    {"a:b:c", NULL, NULL, "c", NULL}, /* an empty one sets nothing */
    {"c:b", NULL, NULL, "d", NULL},
    {"a:b", "cluster", "k", "a: {\"server\":\"a\"}", NULL}, /* and nothing of b's */
    {"b:a", "cluster", "k", "b: {\"server\":\"b\",\"proxy-url\":\"p\"}", NULL},
    {"a:b", "cluster", "l", "b: {\"server\":\"b\"}", NULL},
    {"a:b", "cluster", "bare", "a: nothing", NULL},
    {"b:c", "context", "c", "b: {\"user\":\"b\"}", NULL},
    {"b:c", "context", "d", "c: {\"user\":\"c\"}", NULL},
    {":a::no/such:./b:", "cluster", "l", "./b: {\"server\":\"b\"}", NULL},
    {"empty:comment:b:b", "context", "c", "b: {\"user\":\"b\"}", NULL},
    {"twice", "user", "v", "twice: nothing", NULL},
    {"nulls", "user", "u", "nulls: {\"token\":\"t\"}", NULL},

    {"no", NULL, NULL, NULL, "kubeconfig: no: No such file or directory"},
    {"no:not", NULL, NULL, NULL, "kubeconfig: none of these files exists: \"no:not\""},
    {":", NULL, NULL, NULL, "kubeconfig: none of these files exists: \":\""},
    {"b:a/x", NULL, NULL, NULL, "kubeconfig: a/x: Not a directory"},
    {"b:/", NULL, NULL, NULL, "kubeconfig: /: Is a directory"},
    {"b:/dev/zero", NULL, NULL, NULL, "kubeconfig: /dev/zero: larger than 1048576 bytes"},
    {"b:broken", NULL, NULL, NULL,
     "kubeconfig broken: not usable YAML: line 2, column 1: did not find expected node content"},
    {"b:list", NULL, NULL, NULL, "kubeconfig list: not a map"},
    {"b:word", NULL, NULL, NULL, "kubeconfig word: not a map"},
    {"b:map", NULL, NULL, NULL, "kubeconfig map: clusters is not a list"},
    {"b:words", NULL, NULL, NULL, "kubeconfig words: users[1]: not a map"},
    {"b:number", NULL, NULL, NULL,
     "kubeconfig number: contexts[0]: name is not a string; put it in quotes"},
    {"b:current", NULL, NULL, NULL,
     "kubeconfig current: current-context is not a string; put it in quotes"},
    {"twice", "user", "u", NULL, "kubeconfig twice: users has two entries named \"u\""},

    {"a:empty", NULL, NULL, NULL,
     "kubeconfig a:empty: current-context is missing; there are no contexts"},
    {"many", NULL, NULL, NULL,
     "kubeconfig many: current-context is missing; the contexts are \"n1\", \"n2\", \"n3\", "
     "\"n4\", \"n5\", \"n6\", \"n7\", \"n8\", \"n9\", \"n10\", \"n11\", \"n12\", \"n13\", \"n14\", "
     "\"n15\", \"n16\" and 2 more"},
    {"c:b", "context", "x", NULL,
     "kubeconfig c:b: contexts has no entry named \"x\"; the contexts are \"d\", \"c\""},
    {"a:b", "user", "x", NULL,
     "kubeconfig a:b: users has no entry named \"x\"; there are no users"},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *found = NULL;
        CLEANUP(err_freep)
        struct err *err = find(rows[i].paths, rows[i].kind, rows[i].name, &found);

        if (rows[i].fault) {
            assert_non_null(err);
            assert_string_equal(err_message(err), rows[i].fault);
            continue;
        }
        assert_null(err);
        assert_string_equal(found, rows[i].found);
    }
}

static struct err *find_in_many(size_t n)
{
    CLEANUP(buffer_fini) struct buffer paths = {.limit = 1000};
    CLEANUP(freep) char *found = NULL;

    for (size_t i = 0; i < n; i++)
        buffer_printf(&paths, "b:");
    return find(paths.data, NULL, NULL, &found);
}

static void test_many_files(void **state)
{
    (void)state;
    assert_ok(find_in_many(64));
    assert_fails(find_in_many(65), ERR_INVALID, "kubeconfig: more than 64 files");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_many_files),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
