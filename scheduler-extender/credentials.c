#include "scheduler-extender/credentials.h"

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

static struct err *check(const struct credential_files *files,
                         const struct credentials *credentials)
{
    if (credentials->certificate) {
        struct err *err = certificates_check_pair(credentials->certificate, credentials->key);
        if (err)
            return err_wrap(err, "%stls-cert-file %s, %stls-key-file %s", files->prefix,
                            files->certificate, files->prefix, files->key);
    }
    struct err *err = credentials->client_ca ? certificates_check(credentials->client_ca) : NULL;
    return err ? err_wrap(err, "%sclient-ca-file %s", files->prefix, files->client_ca) : NULL;
}

struct err *credentials_read(const struct credential_files *files, struct credentials *ret)
{
    CLEANUP(credentials_fini) struct credentials read = {0};

    TRY(read_pem(files->prefix, "tls-cert-file", files->certificate, &read.certificate));
    TRY(read_pem(files->prefix, "tls-key-file", files->key, &read.key));
    TRY(read_pem(files->prefix, "client-ca-file", files->client_ca, &read.client_ca));
    TRY(check(files, &read));
    *ret = read;
    read = (struct credentials){0};
    return NULL;
}

void credentials_fini(struct credentials *credentials)
{
    if (credentials->key)
        explicit_bzero(credentials->key, strlen(credentials->key));
    free(credentials->certificate);
    free(credentials->key);
    free(credentials->client_ca);
    *credentials = (struct credentials){0};
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool credentials_equal(const struct credentials *a, const struct credentials *b)
{
    return same(a->certificate, b->certificate) && same(a->key, b->key) &&
           same(a->client_ca, b->client_ca);
}
