#include "scheduler-extender/credentials.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/http/certificates.h"

enum { LARGEST_PEM = 1024 * 1024 };

static struct err *read_pem(const char *flag, const char *path, char **ret_pem)
{
    size_t length;

    if (!path[0])
        return NULL;
    struct err *err = file_read(path, LARGEST_PEM, ret_pem, &length);
    return err ? err_wrap(err, "%s", flag) : NULL;
}

static struct err *check(const struct flags *flags, const struct credentials *credentials)
{
    if (credentials->certificate) {
        struct err *err = certificates_check_pair(credentials->certificate, credentials->key);
        if (err)
            return err_wrap(err, "--tls-cert-file %s, --tls-key-file %s", flags->tls_cert_file,
                            flags->tls_key_file);
    }
    struct err *err = credentials->client_ca ? certificates_check(credentials->client_ca) : NULL;
    return err ? err_wrap(err, "--client-ca-file %s", flags->client_ca_file) : NULL;
}

struct err *credentials_read(const struct flags *flags, struct credentials *ret)
{
    CLEANUP(credentials_fini) struct credentials read = {0};

    TRY(read_pem("--tls-cert-file", flags->tls_cert_file, &read.certificate));
    TRY(read_pem("--tls-key-file", flags->tls_key_file, &read.key));
    TRY(read_pem("--client-ca-file", flags->client_ca_file, &read.client_ca));
    TRY(check(flags, &read));
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
