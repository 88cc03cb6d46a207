/* What may stand where a person has come to, by the tool's own commands, flags and kinds. */
#include "azdiskctl/complete.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define ROW(name) &command_##name,
static const struct command *const commands[] = {COMMANDS(ROW)};

/* The words are parted by blanks; one behind the last is the one in question, empty. */
static struct completion completed(char *line)
{
    char *words[16], *rest = line;
    struct completion completion;
    size_t n = 0;

    while ((words[n] = strsep(&rest, " ")))
        n++;
    complete(commands, COUNT_OF(commands), words, n, &completion);
    return completion;
}

/* What is printed, without what is said about each word. */
static char *words_of(const struct completion *completion)
{
    CLEANUP(freep) char *text = completion_text(completion);
    struct buffer words;
    char *rest = text, *line;

    buffer_init(&words, 1 << 16);
    while ((line = strsep(&rest, "\n")) && *line)
        buffer_printf(&words, "%s%.*s", words.length ? " " : "", (int)strcspn(line, "\t"), line);
    return buffer_take(&words);
}

static const struct {
    const char *line, *words;
} rows[] = {
    {"", "get describe map why timeline check logs bundle failover drain ungate install-check "
         "upgrade-check uninstall-check completion :4"},
    {"d", "describe drain :4"},
    {"-n shop d", "describe drain :4"},
    {"--dry-run d", "describe drain :4"},
    {"nothing ", ":4"},
    {"nothing x ", ":4"},
    {"map ", ":4"},
    {"completion ", "bash zsh fish :4"},
    {"completion bash ", ":4"},
    /* kinds */
    {"get ", "volumes attachments replicas nodes :4"},
    {"get -o json v", "volumes :4"},
    {"describe a", "attachments :4"},
    {"why ", "pod/ pvc/ pv/ azvolume/ azvolumeattachment/ node/ :6"},
    {"why az", "azvolume/ azvolumeattachment/ :6"},
    {"why none/", ":4"},
    {"why pv/x ", ":4"},
    /* flags, and which have an effect */
    {"drain x --t", "--timeout :4"},
    {"failover x --t", "--to --timeout :4"},
    {"ungate --a", "--as --as-group --as-uid --all :4"},
    {"get --a", "--as --as-group --as-uid :4"},
    {"get volumes --z", "--zone :4"},
    {"logs --f", "--follow :4"},
    {"logs -f --si", "--since :4"},
    {"map --f", ":4"},
    {"map --nam", ":4"},
    {"drain x --nam", ":4"},
    {"ungate --nam", "--namespace :4"},
    {"why pvc/x --nam", "--namespace :4"},
    {"map --pr", ":4"},
    {"check --pr", "--prices :4"},
    {"describe volumes --z", ":4"},
    {"--a", "--as --as-group --as-uid --all :4"},
    {"get --he", "--help :4"},
    {"get -o", ":4"},
    /* their values */
    {"get -o ", "text table wide name json yaml :4"},
    {"get -o j", "json :4"},
    {"get -oj", "-ojson :4"},
    {"get -o=w", "-o=wide :4"},
    {"get --output=t", "--output=text --output=table :4"},
    {"get --output t", "text table :4"},
    {"map -o ", "text json yaml :4"},
    {"-o ", "text table wide name json yaml :4"},
    {"map --log-format=", "--log-format=text --log-format=json :4"},
    {"drain x --dry-run=t", "--dry-run=true :4"},
    {"map --timeout ", ":4"},
    {"map --kubeconfig ", ":0"},
    {"map --kubeconfig=/et", ":0"},
    {"map --cloud-config ", ":0"},
    /* no flags */
    {"map --=", ":4"},
    {"map -=x", ":4"},
    {"map --none=x", ":4"},
    {"get - v", "volumes :4"},
    {"-- ma", "map :4"},
};

static void test_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *line = mem_strdup(rows[i].line);
        CLEANUP(completion_fini) struct completion completion = completed(line);
        CLEANUP(freep) char *words = words_of(&completion);

        if (strcmp(words, rows[i].words) != 0)
            fail_msg("\"%s\": %s, not %s", rows[i].line, words, rows[i].words);
        assert_null(completion.names.resource);
    }
}

static const struct {
    const char *line;
    const struct api_resource *resource;
    const char *role, *before;
    size_t n_whole;
} named[] = {
    {"get volumes ", &AZ_VOLUMES, NULL, "", 2},
    {"get AZV x ", &AZ_VOLUMES, NULL, "", 3},
    {"get volumes -n shop x", &AZ_VOLUMES, NULL, "", 4},
    {"describe nodes/", &AZ_DRIVER_NODES, NULL, "nodes/", 1},
    {"get replica ", &AZ_VOLUME_ATTACHMENTS, "Replica", "", 2},
    {"get attachment/x", &AZ_VOLUME_ATTACHMENTS, NULL, "attachment/", 1},
    {"why pv/x", &PERSISTENT_VOLUMES, NULL, "pv/", 1},
    {"why node/", &NODES, NULL, "node/", 1},
    {"timeline ", &AZ_VOLUMES, NULL, "", 1},
    {"failover ", &PERSISTENT_VOLUME_CLAIMS, NULL, "", 1},
    {"failover x --to ", &NODES, NULL, "", 2},
    {"failover x --to=", &NODES, NULL, "--to=", 2},
    {"get volumes --node ", &NODES, NULL, "", 2},
    {"get volumes --pod=", &PODS, NULL, "--pod=", 2},
    {"drain ", &NODES, NULL, "", 1},
    {"ungate ", &PODS, NULL, "", 1},
    {"map -n ", &NAMESPACES, NULL, "", 1},
    {"map -nsh", &NAMESPACES, NULL, "-n", 1},
    {"map --object-namespace=", &NAMESPACES, NULL, "--object-namespace=", 1},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(named); i++) {
        CLEANUP(freep) char *line = mem_strdup(named[i].line);
        CLEANUP(completion_fini) struct completion completion = completed(line);

        if (completion.names.resource != named[i].resource)
            fail_msg("\"%s\": names of %s", named[i].line,
                     completion.names.resource ? completion.names.resource->plural : "nothing");
        assert_string_equal(completion.before, named[i].before);
        assert_int_equal(completion.n_whole, named[i].n_whole);
        assert_true(!completion.names.role == !named[i].role);
        if (named[i].role)
            assert_string_equal(completion.names.role, named[i].role);
        assert_int_equal(completion.words.length, 0);
    }
}

static void test_contexts(void **state)
{
    char line[] = "map --context ";
    CLEANUP(completion_fini) struct completion completion = completed(line);

    (void)state;
    assert_true(completion.names.contexts);
}

/* Who can write names may not have a shell do anything with them. */
static void test_added_names(void **state)
{
    static const char *const names[] = {"a",   "b",         "ab", "a$(x)",      "a`x`", "a b",
                                        "a;x", "a\nb",      "a'", "a\x1b[2J",   "a\\",  "",
                                        "a*",  "admin@c.d", "-a", "arn:aws:a/1"};
    char all[] = "timeline ", some[] = "failover x --to=a";

    (void)state;
    CLEANUP(completion_fini) struct completion of_all = completed(all), of_some = completed(some);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        completion_add_name(&of_all, names[i]);
        completion_add_name(&of_some, names[i]);
    }
    CLEANUP(freep) char *words = words_of(&of_all), *begun = words_of(&of_some);
    assert_string_equal(words, "a b ab admin@c.d arn:aws:a/1 :4");
    assert_string_equal(begun, "--to=a --to=ab --to=admin@c.d --to=arn:aws:a/1 :4");
}

/* Such as no server of Kubernetes would have. */
static void test_too_much(void **state)
{
    char line[] = "timeline ", name[1026];
    CLEANUP(completion_fini) struct completion completion = completed(line);

    (void)state;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    completion_add_name(&completion, name);
    assert_int_equal(completion.words.length, 0);
    for (int i = 0; i < 20 * 1024; i++)
        completion_add_name(&completion, name + 1);
    assert_true(completion.words.length < 9 * 1024 * 1024);
}

static void test_what_is_said(void **state)
{
    char line[] = "drain x --tim";
    CLEANUP(completion_fini) struct completion completion = completed(line);
    CLEANUP(freep) char *text = completion_text(&completion);

    (void)state;
    assert_string_equal(text,
                        "--timeout\tFor failover and drain, how long all of it may take\n:4\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),    cmocka_unit_test(test_names),
        cmocka_unit_test(test_contexts), cmocka_unit_test(test_added_names),
        cmocka_unit_test(test_too_much), cmocka_unit_test(test_what_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
