/* Each row is a node: its attachments, and the one that gives way to a primary. */
#include "controller/attachment/preemption.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/alloc.h"

enum { MOST = 8 };

/* An attachment is "name:letters": P a primary, L leaving, - without a place, u not ready, n
 * needed, f keeps a fence, ! of an important pod, a digit the other replicas of its volume, a..z
 * after a dot the day on which it was made. */
static const struct {
    const char *why;
    const char *neighbours;
    const char *gives_way; /* "" if nobody does */
} rows[] = {
    {"nobody is there", "", ""},
    {"a primary never gives way", "a:P", ""},
    {"the replica does", "a:P b:n0", "b"},
    {"the last one of its volume too, if there is no other", "a:Pn1 b:n0", "b"},
    {"one that nobody needs goes first", "a:n2 b:n1 c:0", "c"},
    {"even if it is younger", "a:n2.a b:0.z", "b"},
    {"but not before one that is not ready", "a:0.a b:un!1.z", "b"},
    {"of two that are not ready, the one that nobody needs", "a:un0 b:u0 c:0", "b"},
    {"that it is not ready takes no primary's disk away", "a:uP b:n0", "b"},
    {"then one of less important pods", "a:n0 b:!n1", "a"},
    {"even if it is the last one of its volume", "a:!n1.a b:n0.z", "b"},
    {"but not before one that nobody needs", "a:n0 b:!0", "b"},
    {"then one whose volume keeps another", "a:n0.a b:n1.b", "b"},
    {"how many others it keeps makes no difference", "a:n1.b b:n2.c", "a"},
    {"then the one that has been there for longest", "a:n1.c b:n1.b c:n1.d", "b"},
    {"then by name", "b:n1.b a:n1.b", "a"},
    {"who leaves already does not count", "a:L0 b:n0", "b"},
    {"nor does who has no place", "a:-0 b:n0", "b"},
    {"nor does who keeps a fence, and would stay", "a:f2.a b:n0.z", "b"},
    {"if nobody else is there, either", "a:f2", ""},
    {"so there may be nobody", "a:-0 b:L0 c:Pn0", ""},
};

static struct neighbour neighbour_from(const char *name, const char *letters)
{
    static char days[26][2];
    struct neighbour neighbour = {.name = name, .disk_id = "", .since = ""};
    const char *dot = strchr(letters, '.');

    for (; *letters && *letters != '.'; letters++)
        switch (*letters) {
        case 'P':
            neighbour.published = true;
            break;
        case 'L':
            neighbour.leaving = true;
            break;
        case '-':
            neighbour.lun = NO_LUN;
            break;
        case '!':
            neighbour.priority = 1000;
            break;
        case 'u':
            neighbour.unready = true;
            break;
        case 'f':
            neighbour.keeps_fence = true;
            break;
        case 'n':
            neighbour.needed = true;
            break;
        default:
            neighbour.other_replicas = (unsigned)(*letters - '0');
        }
    if (dot) {
        days[dot[1] - 'a'][0] = dot[1];
        neighbour.since = days[dot[1] - 'a'];
    }
    return neighbour;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct neighbour neighbours[MOST];
        char names[MOST][8], letters[16];
        const char *text = rows[i].neighbours;
        size_t n = 0;
        int length;

        for (; sscanf(text, " %7[^:]:%15s%n", names[n], letters, &length) == 2; text += length, n++)
            neighbours[n] = neighbour_from(names[n], letters);
        size_t chosen = preemption_victim(neighbours, n);
        const char *name = chosen < n ? neighbours[chosen].name : "";
        if (strcmp(name, rows[i].gives_way) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].why, rows[i].gives_way, name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
