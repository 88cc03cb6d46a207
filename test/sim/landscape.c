#include "test/sim/landscape.h"

#include <stddef.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/rt/random.h"

/* Any number: the stream must only differ from those of the world and of the incidents. */
#define STREAM UINT64_C(0x6c616e6473636170)

const struct landscape LANDSCAPE_PLAIN = {.kinds = {[VM_STANDALONE] = true}};

static const struct trait {
    const char *word;
    size_t offset; /* of a bool */
} traits[] = {
    {"standalone", offsetof(struct landscape, kinds[VM_STANDALONE])},
    {"uniform", offsetof(struct landscape, kinds[VM_UNIFORM])},
    {"flexible", offsetof(struct landscape, kinds[VM_FLEXIBLE])},
    {"elsewhere", offsetof(struct landscape, vms_elsewhere)},
    {"other-subscription", offsetof(struct landscape, other_subscription)},
    {"disks-elsewhere", offsetof(struct landscape, disks_elsewhere)},
    {"no-provider-ids", offsetof(struct landscape, no_provider_ids)},
    {"alike-names", offsetof(struct landscape, alike_names)},
    {"static-volumes", offsetof(struct landscape, static_volumes)},
    {"in-tree-volumes", offsetof(struct landscape, in_tree_volumes)},
    {"old-pvs", offsetof(struct landscape, old_pvs)},
    {"shared-group", offsetof(struct landscape, shared_group)},
    {"namesakes", offsetof(struct landscape, namesakes)},
    {"copies", offsetof(struct landscape, copies)},
    {"failover", offsetof(struct landscape, failover)},
    {"gates", offsetof(struct landscape, gates)},
    {"gate-keepers", offsetof(struct landscape, gate_keepers)},
    {"proposals-refused", offsetof(struct landscape, proposals_refused)},
};

static bool *trait_of(struct landscape *landscape, const struct trait *trait)
{
    return (bool *)((char *)landscape + trait->offset);
}

static bool chance(struct random *random, unsigned one_in)
{
    return random_below(random, one_in) == 0;
}

struct landscape landscape_of_seed(uint64_t seed)
{
    struct random random = {.state = seed ^ STREAM};
    struct landscape landscape = {0};

    if (chance(&random, 4)) {
        landscape.kinds[VM_STANDALONE] = true;
    } else {
        landscape.kinds[random_below(&random, VM_FLEXIBLE + 1)] = true;
        landscape.kinds[random_below(&random, VM_FLEXIBLE + 1)] = true;
    }
    landscape.vms_elsewhere = chance(&random, 2);
    landscape.other_subscription = landscape.vms_elsewhere && chance(&random, 3);
    landscape.disks_elsewhere = landscape.other_subscription || chance(&random, 3);
    landscape.alike_names = chance(&random, 2);
    landscape.static_volumes = chance(&random, 2);
    landscape.in_tree_volumes = chance(&random, 3);
    landscape.old_pvs = chance(&random, 2);
    landscape.no_provider_ids = chance(&random, 4) && !landscape.vms_elsewhere &&
                                !landscape.kinds[VM_UNIFORM] && !landscape.kinds[VM_FLEXIBLE];
    landscape.shared_group = chance(&random, 3);
    landscape.namesakes = chance(&random, 2) && landscape.static_volumes;
    landscape.copies = chance(&random, 2);
    landscape.failover = chance(&random, 2);
    landscape.gates = chance(&random, 3);
    landscape.gate_keepers = landscape.gates && chance(&random, 3);
    landscape.proposals_refused = landscape.gates && chance(&random, 8);
    return landscape;
}

enum vm_kind landscape_vm_kind(const struct landscape *landscape, unsigned nth)
{
    enum vm_kind kind = VM_STANDALONE;
    unsigned n = 0;

    for (int i = 0; i <= VM_FLEXIBLE; i++)
        n += landscape->kinds[i];
    for (unsigned skip = nth % n + 1; skip > 0; kind++)
        skip -= landscape->kinds[kind];
    return kind - 1;
}

char *landscape_text(const struct landscape *landscape)
{
    struct landscape copy = *landscape;
    struct buffer text;

    buffer_init(&text, SIZE_MAX);
    for (size_t i = 0; i < COUNT_OF(traits); i++)
        if (*trait_of(&copy, &traits[i]))
            buffer_printf(&text, "%s%s", text.length ? " " : "", traits[i].word);
    return buffer_take(&text);
}

static bool set_trait(struct landscape *landscape, const char *word)
{
    for (size_t i = 0; i < COUNT_OF(traits); i++)
        if (strcmp(traits[i].word, word) == 0) {
            *trait_of(landscape, &traits[i]) = true;
            return true;
        }
    return false;
}

struct err *landscape_parse(const char *text, struct landscape *ret)
{
    CLEANUP(freep) char *copy = mem_strdup(text);
    struct landscape landscape = {0};
    char *position = NULL;

    for (char *word = strtok_r(copy, " ", &position); word; word = strtok_r(NULL, " ", &position))
        if (!set_trait(&landscape, word))
            return err_new(ERR_INVALID, "landscape: there is no trait \"%s\"", word);
    if (!landscape.kinds[VM_UNIFORM] && !landscape.kinds[VM_FLEXIBLE])
        landscape.kinds[VM_STANDALONE] = true;
    if (landscape.other_subscription) /* a disk is attached in its own subscription only */
        landscape.vms_elsewhere = landscape.disks_elsewhere = true;
    if (landscape.namesakes)
        landscape.static_volumes = true;
    if (landscape.gate_keepers || landscape.proposals_refused)
        landscape.gates = true;
    *ret = landscape;
    return NULL;
}
