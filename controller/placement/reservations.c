#include "controller/placement/reservations.h"

#include <stdlib.h>
#include <string.h>

#include "controller/cache/node_attachment.h"
#include "lib/base/alloc.h"
#include "lib/base/list.h"
#include "lib/kube/pod.h"

/* More pods than a scheduler places in that time; the oldest makes room. */
enum { MOST_RESERVATIONS = 4096 };

/* One pod's on its node. */
struct reservation_of_pod {
    struct list link; /* the oldest first */
    char *pod, *node;
    char **volumes;
    size_t n_volumes;
    uint64_t ends; /* loop time */
};

struct reservations {
    struct list all;
    size_t n;
};

#define RESERVATION_OF(item) CONTAINER_OF(item, struct reservation_of_pod, link)

struct reservations *reservations_new(void)
{
    struct reservations *reservations = mem_alloc(sizeof *reservations);

    list_init(&reservations->all);
    return reservations;
}

static void drop(struct reservations *reservations, struct reservation_of_pod *reservation)
{
    list_remove(&reservation->link);
    reservations->n--;
    for (size_t i = 0; i < reservation->n_volumes; i++)
        free(reservation->volumes[i]);
    free(reservation->volumes);
    free(reservation->pod);
    free(reservation->node);
    free(reservation);
}

void reservations_free(struct reservations *reservations)
{
    while (reservations && !list_is_empty(&reservations->all))
        drop(reservations, RESERVATION_OF(reservations->all.next));
    free(reservations);
}

static struct reservation_of_pod *find(const struct reservations *reservations, const char *pod)
{
    LIST_FOREACH(&reservations->all, link)
        if (strcmp(RESERVATION_OF(link)->pod, pod) == 0)
            return RESERVATION_OF(link);
    return NULL;
}

/* Those that ended, which are the oldest; and what there is no room for. */
static void drop_old(struct reservations *reservations, uint64_t now)
{
    while (reservations->n > 0) {
        struct reservation_of_pod *oldest = RESERVATION_OF(reservations->all.next);

        if (oldest->ends > now && reservations->n < MOST_RESERVATIONS)
            return;
        drop(reservations, oldest);
    }
}

void reservations_end(struct controller *controller, const char *pod)
{
    struct reservations *reservations = controller->leading->reserved_places;
    struct reservation_of_pod *reservation = find(reservations, pod);

    if (reservation)
        drop(reservations, reservation);
}

void reservations_make(struct controller *controller, const char *pod, const char *node,
                       char *const *volumes, size_t n_volumes)
{
    struct reservations *reservations = controller->leading->reserved_places;
    uint64_t now = loop_now(controller->loop);

    reservations_end(controller, pod);
    drop_old(reservations, now);
    struct reservation_of_pod *made = mem_alloc(sizeof *made);
    *made = (struct reservation_of_pod){
        .pod = mem_strdup(pod), .node = mem_strdup(node), .ends = now + RESERVATION_MS};
    for (size_t i = 0; i < n_volumes; i++)
        ARRAY_ADD(made->volumes, made->n_volumes) = mem_strdup(volumes[i]);
    list_append(&reservations->all, &made->link);
    reservations->n++;
}

/* The pod may still come to the node. */
static bool holds(const struct controller *controller, const struct reservation_of_pod *reservation)
{
    const struct kube_object *object = store_get(controller->pods, reservation->pod);
    const Api__Pod *pod = object ? KUBE_AS(Api__Pod, object) : NULL;
    const char *node = pod && pod->spec ? pod->spec->node_name : NULL;

    return reservation->ends > loop_now(controller->loop) && pod && pod_is_live(pod) &&
           (!node || strcmp(node, reservation->node) == 0);
}

static bool is_primary(const struct controller *controller, const char *volume, const char *node)
{
    const struct kube_object *object = node_attachment(controller, volume, node);

    return object && attachment_wants(as_attachment(object), ROLE_PRIMARY);
}

static bool is_among(const char *volume, char *const *volumes, size_t n_volumes)
{
    for (size_t i = 0; i < n_volumes; i++)
        if (strcmp(volumes[i], volume) == 0)
            return true;
    return false;
}

unsigned reservations_count(const struct controller *controller, const char *node,
                            char *const *volumes, size_t n_volumes)
{
    unsigned n = 0;

    LIST_FOREACH(&controller->leading->reserved_places->all, link) {
        const struct reservation_of_pod *reservation = RESERVATION_OF(link);

        if (strcmp(reservation->node, node) != 0 || !holds(controller, reservation))
            continue;
        for (size_t i = 0; i < reservation->n_volumes; i++)
            n += !is_among(reservation->volumes[i], volumes, n_volumes) &&
                 !is_primary(controller, reservation->volumes[i], node);
    }
    return n;
}
