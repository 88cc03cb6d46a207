/* Kubeconfig files: two of them if there is a NUL between them. */
#include "lib/base/alloc.h"
#include "lib/kube/config.h"
#include "test/fuzz/file.h"

/* The server takes each for what it was here. */
static void check_headers(const struct impersonation *impersonation)
{
    for (size_t i = 0; i < impersonation->n; i++) {
        const char *value = impersonation->headers[i].value;

        MUST(strpbrk(impersonation->headers[i].name, ": \t\r\n;") == NULL);
        MUST(*value && strpbrk(value, "\r\n") == NULL && *value != ' ');
        MUST(value[strlen(value) - 1] != ' ');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(kube_config_fini) struct kube_config config = {0};
    char first_path[INPUT_PATH_SIZE], second_path[INPUT_PATH_SIZE];
    size_t length = size ? strnlen((const char *)data, size) : 0;
    size_t rest = length < size ? length + 1 : size;
    int first = input_file(data, length, first_path);
    int second = input_file(data + rest, size - rest, second_path);
    CLEANUP(freep) char *paths = mem_printf("%s:%s", first_path, second_path);

    if (input_taken(kube_config_load(paths, NULL, &config))) {
        size_t end = strlen(config.server);

        MUST(strncmp(config.server, "http", 4) == 0 && config.server[end - 1] != '/');
        MUST(config.namespace_ && !config.certificate_pem == !config.key_pem);
        check_headers(&config.impersonation);
    }
    close(first);
    close(second);
    return 0;
}
