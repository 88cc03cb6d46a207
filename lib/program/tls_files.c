#include "lib/program/tls_files.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/http/certificates.h"

enum { LARGEST_PEM = 1024 * 1024 };

static struct err *read_pem(const char *prefix, const char *flag, const char *path, char **ret_pem)
{
    size_t length;

    if (!path[0])
        return NULL;
    struct err *err = file_read(path, LARGEST_PEM, ret_pem, &length);
    return err ? err_wrap(err, "%s%s", prefix, flag) : NULL;
}

static struct err *check(const struct tls_files *files, const struct tls_pem *pem)
{
    if (pem->certificate) {
        struct err *err = certificates_check_pair(pem->certificate, pem->key);
        if (err)
            return err_wrap(err, "%stls-cert-file %s, %stls-key-file %s", files->prefix,
                            files->certificate, files->prefix, files->key);
    }
    struct err *err = pem->client_ca ? certificates_check(pem->client_ca) : NULL;
    return err ? err_wrap(err, "%sclient-ca-file %s", files->prefix, files->client_ca) : NULL;
}

struct err *tls_files_read(const struct tls_files *files, struct tls_pem *ret)
{
    CLEANUP(tls_pem_fini) struct tls_pem read = {0};

    TRY(read_pem(files->prefix, "tls-cert-file", files->certificate, &read.certificate));
    TRY(read_pem(files->prefix, "tls-key-file", files->key, &read.key));
    TRY(read_pem(files->prefix, "client-ca-file", files->client_ca, &read.client_ca));
    TRY(check(files, &read));
    *ret = read;
    read = (struct tls_pem){0};
    return NULL;
}

void tls_pem_fini(struct tls_pem *pem)
{
    if (pem->key)
        explicit_bzero(pem->key, strlen(pem->key));
    free(pem->certificate);
    free(pem->key);
    free(pem->client_ca);
    *pem = (struct tls_pem){0};
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool tls_pem_equal(const struct tls_pem *a, const struct tls_pem *b)
{
    return same(a->certificate, b->certificate) && same(a->key, b->key) &&
           same(a->client_ca, b->client_ca);
}
