/* Parameters of a StorageClass: name=value in each line. */
#include "provisioner-lib/parameters.h"
#include "test/fuzz/input.h"

enum { MOST = 64, MOST_TAGS = 50 /* of an Azure resource */ };

static size_t split(char *text, struct parameter parameters[MOST])
{
    char *line;
    size_t n = 0;

    while (n < MOST && (line = strsep(&text, "\n"))) {
        char *equals = strchr(line, '=');

        if (!equals)
            continue;
        *equals = '\0';
        parameters[n++] = (struct parameter){line, equals + 1};
    }
    return n;
}

/* What a disk can be of which these are the parameters. */
static void check(const struct volume_parameters *parsed)
{
    static const int64_t sizes[] = {1, 512, 513, 4096, 65536, INT64_MAX / 1024 / 1024 / 1024};

    MUST(parsed->max_shares >= 1 && parsed->max_shares <= MAX_SHARES_LIMIT);
    MUST(parsed->max_mount_replica_count >= 0);
    MUST(parsed->max_mount_replica_count < parsed->max_shares);
    MUST(parsed->sku && parsed->fs_type && parsed->n_tags <= MOST_TAGS);
    MUST(!parsed->resource_group || !strpbrk(parsed->resource_group, "/?#%"));
    MUST(!parsed->subscription || !strpbrk(parsed->subscription, "/?#%"));
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct disk_limits limits;

        disk_limits_built_in(parsed->sku, sizes[i], &limits);
        err_free(volume_parameters_check_size(parsed, sizes[i], &limits));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(freep) char *text = input_text(data, size);
    struct parameter parameters[MOST];
    size_t n = split(text, parameters);

    for (int multi_node = 0; multi_node < 2; multi_node++) {
        CLEANUP(volume_parameters_fini) struct volume_parameters made = {0}, existing = {0};

        if (input_taken(volume_parameters_parse(parameters, n, multi_node, &made))) {
            check(&made);
            /* What was right for making the disk is right for attaching it. */
            MUST(input_taken(
                volume_parameters_parse_existing(parameters, n, multi_node, &existing)));
            MUST(existing.max_shares == made.max_shares);
            MUST(existing.max_mount_replica_count == made.max_mount_replica_count);
        }
    }
    MUST(parameters_keep_known(parameters, n) <= n);
    return 0;
}
