#include "provisioner-lib/azure/arm_list.h"

#include <stdlib.h>

#include "lib/base/alloc.h"

/* A list that goes on for longer has lost its end: a page that names itself as the next one. */
enum { MOST_PAGES = 1000 };

struct err *arm_list(struct task *self, struct arm_client *arm, const struct arm_request *request,
                     const ProtobufCMessageDescriptor *type, arm_take_page_fn *take, void *ctx)
{
    struct arm_request of_page = *request;
    CLEANUP(freep) char *path = mem_strdup(request->path);

    for (int pages = 0; path; pages++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        const ProtobufCMessage *page;

        if (pages == MOST_PAGES)
            return err_new(ERR_INTERNAL, "the list has more than %d pages", MOST_PAGES);
        of_page.path = path;
        TRY(arm_client_get(self, arm, &of_page, type, arena, &page));
        const char *next = take(ctx, page);
        free(path);
        path = NULL;
        TRY(arm_client_next_page(arm, next, &path));
    }
    return NULL;
}
