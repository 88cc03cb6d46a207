/* What kube-scheduler posts to the extender, and that every answer to it is JSON. */
#include "scheduler-extender/extender_answer.h"
#include "scheduler-extender/extender_args.h"
#include "test/fuzz/input.h"

static void check_json(char *text)
{
    struct json_piece whole;

    MUST(input_taken(json_validate(text, strlen(text), &whole)));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(extender_args_fini) struct extender_args args = {0};

    if (!input_taken(extender_args_parse((const char *)data, size, &args)))
        return 0;
    check_json(answer_scores(&args, NULL));
    check_json(answer_filter(&args, NULL));
    if (!input_taken(extender_args_read_nodes(&args)))
        return 0;
    MUST(args.pod && args.n_nodes <= EXTENDER_MAX_NODES);
    MUST(args.form != NODES_NONE || args.n_nodes == 0);

    CLEANUP(freep) unsigned *scores = mem_alloc(args.n_nodes * sizeof *scores + 1);
    CLEANUP(freep) bool *allowed = mem_alloc(args.n_nodes + 1);
    for (size_t i = 0; i < args.n_nodes; i++)
        allowed[i] = i % 2;
    check_json(answer_scores(&args, scores));
    check_json(answer_filter(&args, allowed));
    return 0;
}
