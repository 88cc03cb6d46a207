/* A directory of one's own, and bounded files in it, whatever objects are called. */
#include "azdiskctl/bundle_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "test/unit/expect.h"

static char root[] = "/tmp/test_bundle_folder.XXXXXX";

static int set_up(void **state)
{
    (void)state;
    memcpy(strrchr(root, '.'), ".XXXXXX", 8);
    return mkdtemp(root) ? 0 : -1;
}

/* Nothing is left in it. */
static int tear_down(void **state)
{
    (void)state;
    return rmdir(root);
}

static void remove_from(const struct bundle_folder *folder, const char *name)
{
    assert_int_equal(unlinkat(folder->fd, name, 0), 0);
}

static unsigned mode_of(const char *path)
{
    struct stat stat;

    assert_int_equal(lstat(path, &stat), 0);
    return stat.st_mode & 07777;
}

static void test_directory(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/new", root);
    CLEANUP(freep) char *file = mem_printf("%s/a", path);
    CLEANUP(freep) char *not_empty = mem_printf("%s is not empty: name a new directory", path);
    CLEANUP(freep)
    char *twice = mem_printf("cannot write %s/a: File exists", path);
    CLEANUP(freep) char *text = NULL;
    struct bundle_folder folder, again;

    (void)state;
    assert_ok(bundle_folder_open(path, &folder));
    assert_int_equal(mode_of(path), 0700);
    assert_ok(bundle_folder_write(&folder, "a", "b", 1));
    assert_int_equal(mode_of(file), 0600);
    assert_ok(file_read(file, 16, &text, NULL));
    assert_string_equal(text, "b");
    assert_fails(bundle_folder_write(&folder, "a", "c", 1), ERR_INVALID, twice);
    assert_fails(bundle_folder_open(path, &again), ERR_INVALID, not_empty);
    bundle_folder_close(&again);
    remove_from(&folder, "a");
    bundle_folder_close(&folder);
    rmdir(path);
}

/* Others may have had a way into it before. */
static void test_directory_that_is_there(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/open", root);
    struct bundle_folder folder;

    (void)state;
    assert_int_equal(mkdir(path, 0755), 0);
    assert_ok(bundle_folder_open(path, &folder));
    assert_int_equal(mode_of(path), 0700);
    bundle_folder_close(&folder);
    rmdir(path);
}

/* Only root can make one. */
static void test_directory_of_somebody_else(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/theirs", root);
    CLEANUP(freep) char *theirs = mem_printf("%s is somebody else's: name a new directory", path);
    struct bundle_folder folder;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chown(path, 1, 1), 0);
    assert_fails(bundle_folder_open(path, &folder), ERR_INVALID, theirs);
    bundle_folder_close(&folder);
    rmdir(path);
}

static void test_what_is_none(void **state)
{
    CLEANUP(freep) char *link = mem_printf("%s/link", root);
    CLEANUP(freep) char *nowhere = mem_printf("%s/no/where", root);
    CLEANUP(freep)
    char *is_link = mem_printf("cannot open the directory %s: Not a directory", link);
    CLEANUP(freep)
    char *is_nowhere =
        mem_printf("cannot make the directory %s: No such file or directory", nowhere);
    struct bundle_folder folder;

    (void)state;
    assert_int_equal(symlink("/tmp", link), 0);
    assert_fails(bundle_folder_open(link, &folder), ERR_INVALID, is_link);
    assert_fails(bundle_folder_open(nowhere, &folder), ERR_INVALID, is_nowhere);
    unlink(link);
}

static void test_bounds(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/bounds", root);
    CLEANUP(freep) char *too_much = mem_printf("%s/a has more than 5 bytes", path);
    struct bundle_folder folder;
    struct bundle_file file;

    (void)state;
    assert_ok(bundle_folder_open(path, &folder));
    assert_ok(bundle_file_create(&folder, "a", 5, &file));
    assert_ok(bundle_file_write(&file, "abc", 3));
    assert_true(bundle_file_has_room(&file, 2));
    assert_false(bundle_file_has_room(&file, 3));
    assert_fails(bundle_file_write(&file, "def", 3), ERR_EXHAUSTED, too_much);
    assert_ok(bundle_file_write(&file, "de", 2));
    assert_int_equal(file.bytes, 5);
    bundle_file_discard(&file);
    bundle_folder_close(&folder);
    assert_int_equal(rmdir(path), 0);
}

static void test_names(void **state)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"csi-azuredisk-node.x1", "csi-azuredisk-node.x1"},
        {"../../etc/passwd", ".._.._etc_passwd"},
        {"a\nb c\\\xff", "a_b_c__"},
        {"", ""},
    };
    char longest[4096];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *part = bundle_name_part(rows[i].text);

        assert_string_equal(part, rows[i].part);
    }
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    CLEANUP(freep) char *part = bundle_name_part(longest);
    assert_int_equal(strlen(part), 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_directory_that_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_directory_of_somebody_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounds, set_up, tear_down),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
