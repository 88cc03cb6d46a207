#include "controller/cloud_config.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/file.h"

#define SECRET_KEY "cloud-config"

enum { LARGEST = 256 * 1024 };

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
        return err_new(ERR_INVALID, "it has no key " SECRET_KEY);
    size_t length = strlen(encoded);
    CLEANUP(freep) unsigned char *text = mem_alloc(length / 4 * 3 + 4);
    int n = EVP_DecodeBlock(text, (const unsigned char *)encoded, (int)length);
    if (n < 0)
        return err_new(ERR_INVALID, "its key " SECRET_KEY " is not base64");
    while (length && encoded[--length] == '=')
        n--; /* the padding was decoded as zero bytes */
    *ret_length = (size_t)n;
    *ret_text = (char *)TAKE_PTR(text);
    return NULL;
}

static struct err *parse(char *text, size_t length, struct azure_config *ret)
{
    struct err *err = azure_config_parse(text, length, ret);

    explicit_bzero(text, length);
    free(text);
    return err;
}

struct err *cloud_config_load(struct task *self, struct kube *kube, const struct flags *flags,
                              struct azure_config *ret)
{
    char *text;
    size_t length = 0;
    struct err *err = read_secret(self, kube, flags, &text, &length);

    if (!err && text)
        err = parse(text, length, ret);
    if (err)
        return err_wrap(err, "Secret %s/%s", flags->cloud_config_namespace,
                        flags->cloud_config_secret);
    if (ret->resource_manager)
        return NULL;

    err = file_read(flags->cloud_config_file, LARGEST, &text, &length);
    if (err)
        return flags->cloud_config_secret[0]
                   ? err_wrap(err, "no Secret %s/%s, and --cloud-config",
                              flags->cloud_config_namespace, flags->cloud_config_secret)
                   : err_wrap(err, "--cloud-config");
    err = parse(text, length, ret);
    return err ? err_wrap(err, "--cloud-config %s", flags->cloud_config_file) : NULL;
}
