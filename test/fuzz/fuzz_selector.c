/* Label selectors as people write them, and what they select. */
#include "lib/kube/selector.h"
#include "lib/kube/selector_text.h"
#include "test/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Api__ObjectMeta__LabelsEntry pool = API__OBJECT_META__LABELS_ENTRY__INIT;
    Api__ObjectMeta__LabelsEntry *labels[] = {&pool};
    Api__ObjectMeta node = API__OBJECT_META__INIT;
    CLEANUP(freep) char *text = input_text(data, size);
    CLEANUP(label_selector_freep) Api__LabelSelector *selector = NULL;

    if (!input_taken(label_selector_parse(text, &selector)))
        return 0;
    for (size_t i = 0; i < selector->n_match_expressions; i++) {
        const Api__SelectorRequirement *requirement = selector->match_expressions[i];

        MUST(requirement->key[0] && requirement->operator_);
    }
    pool.key = mem_strdup("pool");
    pool.value = mem_strdup("db");
    node.labels = labels;
    node.n_labels = COUNT_OF(labels);
    bool matches = label_selector_matches(selector, &node);
    MUST(matches || selector->n_match_expressions > 0);
    free(pool.key);
    free(pool.value);
    return 0;
}
