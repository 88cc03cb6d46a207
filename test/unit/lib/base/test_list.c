#include "lib/base/list.h"

#include <string.h>

#include "test/unit/expect.h"

struct item {
    char letter;
    struct list link;
};

static struct item items[4] = {{.letter = 'a'}, {.letter = 'b'}, {.letter = 'c'}, {.letter = 'd'}};

static void fill(struct list *head)
{
    list_init(head);
    for (int i = 0; i < 4; i++)
        list_append(head, &items[i].link);
}

static void assert_content(struct list *head, const char *expected)
{
    char got[8] = "";

    LIST_FOREACH(head, link)
        got[strlen(got)] = CONTAINER_OF(link, struct item, link)->letter;
    assert_string_equal(got, expected);
    assert_int_equal(list_is_empty(head), !*expected);
}

static void test_order_is_that_of_appending(void **state)
{
    struct list head;

    (void)state;
    list_init(&head);
    assert_content(&head, "");
    fill(&head);
    assert_content(&head, "abcd");
}

static void test_remove_anywhere_and_twice(void **state)
{
    struct list head;

    (void)state;
    fill(&head);
    list_remove(&items[1].link);
    assert_content(&head, "acd");
    list_remove(&items[0].link);
    list_remove(&items[1].link); /* again, after its neighbour went */
    assert_content(&head, "cd");
    list_remove(&items[3].link);
    assert_content(&head, "c");
    list_append(&head, &items[0].link);
    assert_content(&head, "ca");
    list_remove(&items[2].link);
    assert_content(&head, "a");
}

static void test_the_current_may_go_while_iterating(void **state)
{
    struct list head;
    unsigned seen = 0;

    (void)state;
    fill(&head);
    LIST_FOREACH(&head, link) {
        seen++;
        list_remove(link);
    }
    assert_int_equal(seen, 4);
    assert_content(&head, "");
}

static void test_take_first(void **state)
{
    struct list head;

    (void)state;
    fill(&head);
    assert_ptr_equal(list_take_first(&head), &items[0].link);
    assert_content(&head, "bcd");
    while (list_take_first(&head))
        ;
    assert_content(&head, "");
    assert_null(list_take_first(&head));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_is_that_of_appending),
        cmocka_unit_test(test_remove_anywhere_and_twice),
        cmocka_unit_test(test_the_current_may_go_while_iterating),
        cmocka_unit_test(test_take_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
