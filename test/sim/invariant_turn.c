#include "test/sim/invariant_turn.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/data_disks.h"
#include "test/azsim/model/disk.h"
#include "test/azsim/model/operation.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm.h"
#include "test/sim/invariant_check.h"

#define GROWTH "its own"
#define ACTION "/attachDetachDataDisks"

enum {
    ARRIVED_MS = 30 * 1000,
    GIVEN_UP_MS = 2 * 60 * 1000
}; /* as provisioner-lib/azure/vm_queue.c has it */

struct turn {
    struct list link;
    char *vm;     /* NULL: the disk itself grows */
    json_t *body; /* names the disks */
    char *url;    /* of the operation; NULL: not answered yet */
    uint64_t began;
    uint64_t accepted; /* when Azure's answer came, with the url */
    uint64_t looked;   /* the last time that somebody could */
};

#define TURN_OF(item) CONTAINER_OF(item, struct turn, link)

static void turn_free(struct turn *turn)
{
    list_remove(&turn->link);
    json_decref(turn->body);
    free(turn->vm);
    free(turn->url);
    free(turn);
}

void turns_init(struct turns *turns, struct sim *sim)
{
    turns->sim = sim;
    list_init(&turns->under_way);
}

void turns_fini(struct turns *turns)
{
    LIST_FOREACH(&turns->under_way, link) {
        turn_free(TURN_OF(link));
    }
}

/* ---- which disks ---- */

static bool names_disk(const json_t *list, const char *id)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);

        if (strcasecmp(json_string_value(json_object_get(entry, "diskId")), id) == 0)
            return true;
    }
    return false;
}

/* A disk of both lists; NULL if there is none. */
static const char *common_disk(const json_t *list, const json_t *other)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *id = json_string_value(json_object_get(entry, "diskId"));

        if (names_disk(other, id))
            return id;
    }
    return NULL;
}

static const json_t *comes(const struct turn *turn)
{
    return json_object_get(turn->body, "dataDisksToAttach");
}

static const json_t *goes(const struct turn *turn)
{
    return json_object_get(turn->body, "dataDisksToDetach");
}

static const char *disk_of_growth(const struct turn *turn)
{
    const json_t *first = json_array_get(comes(turn), 0);

    return json_string_value(json_object_get(first, "diskId"));
}

static const struct operation *operation_of(const struct turns *turns, const struct turn *turn)
{
    if (turn->vm) {
        const struct vm *vm = vm_find_by_name(turns->sim->azure, turn->vm);

        return vm ? vm->operation : NULL;
    }
    CLEANUP(freep) char *key = resource_key(disk_of_growth(turn));
    const struct disk *disk = disk_find(turns->sim->azure, key);
    return disk ? disk->operation : NULL;
}

/* One whose operation nobody looks at any more, because its outcome could not be learned, ends when
 * Azure ends it, or when nobody could look for so long that it is given up. */
static bool is_over(const struct turns *turns, const struct turn *turn)
{
    const struct operation *operation = operation_of(turns, turn);

    if (!turn->url) /* nobody was told; Azure does one thing at a time with a disk */
        return !turn->vm && !operation && turn->began + ARRIVED_MS <= loop_now(turns->sim->loop);
    return !operation || !strstr(turn->url, operation->id) ||
           turn->looked + GIVEN_UP_MS <= loop_now(turns->sim->loop);
}

/* Two VMs may attach it at once, or detach it, if the first request was accepted a moment before.
 */
static bool may_overlap(const struct turns *turns, const struct turn *new, const struct turn *other)
{
    return new->vm && other->vm &&
           other->url &&loop_now(turns->sim->loop) >= other->accepted + SHARED_ATTACH_WINDOW_MS;
}

static void check_turn(const struct turns *turns, const struct turn *new, const struct turn *other)
{
    const char *disk = common_disk(goes(new), comes(other));

    if (!disk)
        disk = common_disk(comes(new), goes(other));
    if (!disk && !may_overlap(turns, new, other))
        disk = common_disk(comes(new), comes(other));
    if (!disk && !may_overlap(turns, new, other))
        disk = common_disk(goes(new), goes(other));
    const char *where = new->vm ? new->vm : GROWTH, *elsewhere = other->vm ? other->vm : GROWTH;
    if (disk && strcmp(where, elsewhere) != 0)
        verdict_violated(turns->sim, ONE_AT_A_TIME,
                         "disk %s is changed on %s, and its change on %s since %.3f s goes on",
                         strrchr(disk, '/') + 1, where, elsewhere, (double)other->began / 1000);
}

/* ---- from request to end ---- */

static struct turn *turn_of_vm(const struct http_request *request, const char *action)
{
    struct turn *turn = mem_alloc(sizeof *turn);
    CLEANUP(freep) char *path = mem_strndup(request->url, (size_t)(action - request->url));

    *turn = (struct turn){.vm = mem_strdup(strrchr(path, '/') + 1),
                          .body = json_loadb(request->body, request->body_length, 0, NULL)};
    return turn;
}

/* As if it were attached. */
static struct turn *turn_of_growth(const struct http_request *request)
{
    struct turn *turn = mem_alloc(sizeof *turn);
    const char *path = strstr(request->url, "/subscriptions/");
    CLEANUP(freep) char *id = mem_strndup(path, strcspn(path, "?"));

    *turn = (struct turn){.body = json_pack("{s:[{s:s}]}", "dataDisksToAttach", "diskId", id)};
    return turn;
}

struct turn *turns_begin(struct turns *turns, const struct http_request *request)
{
    const char *action = strstr(request->url, ACTION);
    bool grows =
        request->method && strcmp(request->method, "PATCH") == 0 && strstr(request->url, "/disks/");
    struct turn *turn;

    if (!request->body || (!action && !grows) ||
        !turns->sim->invariants) /* scale.h measures only */
        return NULL;
    turn = grows ? turn_of_growth(request) : turn_of_vm(request, action);
    turn->began = turn->looked = loop_now(turns->sim->loop);
    if (grows)
        check_changes(turns->sim->invariants, disk_of_growth(turn), request->body,
                      request->body_length);
    LIST_FOREACH(&turns->under_way, link) {
        if (TURN_OF(link)->began >= turns->sim->invariants->led_since &&
            !is_over(turns, TURN_OF(link)))
            check_turn(turns, turn, TURN_OF(link));
    }
    list_append(&turns->under_way, &turn->link);
    return turn;
}

void turns_answered(const struct turns *turns, struct turn *turn,
                    const struct http_response *response)
{
    const char *url = NULL;

    turn->accepted = loop_now(turns->sim->loop);
    if (response && response->status >= 200 && response->status < 300)
        url = http_header_find(response->headers, response->n_headers, "Azure-AsyncOperation");
    if (url && strncmp(url, "http", 4) == 0) /* else there is nothing to look at */
        turn->url = mem_strdup(url);
    else
        turn_free(turn);
}

/* No answer, a refusal and an answer without a word of Azure's leave open what becomes of it. */
static bool says_it_ended(const struct http_response *response)
{
    static const char *const ends[] = {"\"Succeeded\"", "\"Failed\"", "\"Canceled\""};

    for (size_t i = 0; response && response->status == 200 && i < COUNT_OF(ends); i++)
        if (strstr(response->body, ends[i]))
            return true;
    return false;
}

void turns_looked(struct turns *turns, const char *url, const struct http_response *response)
{
    LIST_FOREACH(&turns->under_way, link) {
        struct turn *turn = TURN_OF(link);

        if (!turn->url || strcmp(turn->url, url) != 0)
            continue;
        turn->looked = loop_now(turns->sim->loop);
        if (says_it_ended(response))
            turn_free(turn);
    }
}
