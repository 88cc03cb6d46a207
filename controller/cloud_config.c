#include "controller/cloud_config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/base64.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/http/tls_memory.h"
#include "lib/json/parse.h"
#include "lib/rt/loop.h"

#define SECRET_KEY "cloud-config"

enum { LARGEST = 256 * 1024 };

void cloud_config_guard_memory(void)
{
    tls_memory_clear_freed();
    json_clear_freed();
    prctl(PR_SET_DUMPABLE, 0);
}

/* `ret_text` is NULL if there is no such Secret. */
static struct err *read_secret(struct task *self, struct kube *kube, const struct flags *flags,
                               char **ret_text, size_t *ret_length)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    *ret_text = NULL;
    if (!flags->cloud_config_secret[0])
        return NULL;
    struct err *err = kube_get(self, kube, &SECRETS, flags->cloud_config_namespace,
                               flags->cloud_config_secret, &object);
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);

    const Api__Secret *secret = KUBE_AS(Api__Secret, object);
    const char *encoded = KUBE_MAP_GET(secret->data, secret->n_data, SECRET_KEY);
    if (!encoded)
        return err_new(ERR_INVALID, "missing key " SECRET_KEY);
    if (!base64_decode(encoded, ret_text, ret_length))
        return err_new(ERR_INVALID, "key " SECRET_KEY " is not valid base64");
    return NULL;
}

struct parsing {
    char *text;
    size_t length;
    struct azure_config *config;
    struct err *err;
};

static void parse_here(void *arg)
{
    struct parsing *parsing = arg;

    parsing->err = azure_config_parse(parsing->text, parsing->length, parsing->config);
}

/* Takes the text. On the loop's stack, for a certificate may have to be opened. */
static struct err *parse(struct task *self, char *text, size_t length, const char *where,
                         struct azure_config *ret)
{
    struct parsing parsing = {text, length, ret, NULL};

    loop_call(self, parse_here, &parsing);
    explicit_bzero(text, length);
    free(text);
    if (parsing.err)
        return err_wrap(parsing.err, "%s", where);
    if (ret->unknown_keys)
        log_warning("%s: ignoring keys that the Azure cloud provider does not define: %s", where,
                    ret->unknown_keys);
    return NULL;
}

static struct err *load_file(struct task *self, const struct flags *flags, struct azure_config *ret)
{
    CLEANUP(freep) char *where = mem_printf("--cloud-config %s", flags->cloud_config_file);
    char *text;
    size_t length;
    struct err *err = file_read(flags->cloud_config_file, LARGEST, &text, &length);

    if (!err)
        return parse(self, text, length, where, ret);
    if (!flags->cloud_config_secret[0])
        return err_wrap(err, "--cloud-config");
    return err_wrap(
        err,
        "Secret %s/%s does not exist, and the file to use instead cannot be read (the chart mounts "
        "only the file that controller.credentialFile names): --cloud-config",
        flags->cloud_config_namespace, flags->cloud_config_secret);
}

struct err *cloud_config_load(struct task *self, struct kube *kube, const struct flags *flags,
                              struct azure_config *ret)
{
    CLEANUP(freep)
    char *where =
        mem_printf("Secret %s/%s", flags->cloud_config_namespace, flags->cloud_config_secret);
    char *text;
    size_t length = 0;

    struct err *err = read_secret(self, kube, flags, &text, &length);
    if (err)
        return err_wrap(err, "%s", where);
    return text ? parse(self, text, length, where, ret) : load_file(self, flags, ret);
}
