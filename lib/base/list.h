/* list.h - doubly linked lists whose links live in the elements.
 *
 * A list head is a `struct list` too; list_init makes both. An element is in one list at a time per
 * link; list_remove is harmless on an element that is in none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next, *prev;
};

#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define LIST_FOREACH(head, link)                                                                   \
    for (struct list *link = (head)->next, *next_##link = link->next; link != (head);              \
         link = next_##link, next_##link = link->next)

static inline void list_init(struct list *list)
{
    list->next = list->prev = list;
}

static inline bool list_is_empty(const struct list *list)
{
    return list->next == list;
}

static inline void list_append(struct list *head, struct list *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

static inline void list_remove(struct list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    list_init(link);
}

static inline struct list *list_take_first(struct list *head)
{
    struct list *first = head->next;

    if (first == head)
        return NULL;
    list_remove(first);
    return first;
}
