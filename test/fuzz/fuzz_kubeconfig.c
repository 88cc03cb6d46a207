/* Kubeconfig files. */
#include "lib/kube/config.h"
#include "test/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(kube_config_fini) struct kube_config config = {0};
    char path[INPUT_PATH_SIZE];
    int fd = input_file(data, size, path);

    if (input_taken(kube_config_load(path, &config))) {
        size_t length = strlen(config.server);

        MUST(strncmp(config.server, "http", 4) == 0 && config.server[length - 1] != '/');
        MUST(config.namespace_ && !config.certificate_pem == !config.key_pem);
    }
    close(fd);
    return 0;
}
