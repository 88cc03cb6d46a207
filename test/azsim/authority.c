#include "test/azsim/authority.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/file.h"

enum { CA_DAYS = 3650, SERVER_DAYS = 365, MAX_PEM = 64 * 1024, MAX_HOSTS = 4096 };

/* A certificate with its key. */
struct pair {
    X509 *certificate;
    EVP_PKEY *key;
};

static void pair_finip(struct pair *pair)
{
    X509_free(pair->certificate);
    EVP_PKEY_free(pair->key);
}

static struct err *openssl_failed(const char *what)
{
    char reason[160];

    ERR_error_string_n(ERR_get_error(), reason, sizeof reason);
    ERR_clear_error();
    return err_new(ERR_INTERNAL, "%s: %s", what, reason);
}

/* ---- making ---- */

static bool add_extension(X509 *certificate, X509V3_CTX *context, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, nid, value);
    bool done = extension && X509_add_ext(certificate, extension, -1) == 1;

    X509_EXTENSION_free(extension);
    return done;
}

/* Serial number, life, name and key; the rest makes it an authority's or a server's. */
static bool fill(struct pair *pair, const char *name, int days)
{
    unsigned char serial[16];
    X509_NAME *subject = X509_get_subject_name(pair->certificate);

    if (RAND_bytes(serial, sizeof serial) != 1)
        return false;
    serial[0] &= 0x7f;
    BIGNUM *number = BN_bin2bn(serial, sizeof serial, NULL);
    bool done = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pair->certificate)) &&
                X509_set_version(pair->certificate, X509_VERSION_3) == 1 &&
                X509_gmtime_adj(X509_getm_notBefore(pair->certificate), -24 * 3600) &&
                X509_gmtime_adj(X509_getm_notAfter(pair->certificate), (long)days * 24 * 3600) &&
                X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                           (const unsigned char *)name, -1, -1, 0) == 1 &&
                X509_set_pubkey(pair->certificate, pair->key) == 1;
    BN_free(number);
    return done;
}

static struct err *make_pair(const char *name, int days, struct pair *ret)
{
    ret->key = EVP_EC_gen("P-256");
    ret->certificate = X509_new();
    if (!ret->key || !ret->certificate || !fill(ret, name, days))
        return openssl_failed("cannot create a certificate");
    return NULL;
}

static struct err *make_authority(struct pair *ret)
{
    X509V3_CTX context;

    TRY(make_pair("azsim certificate authority", CA_DAYS, ret));
    X509 *certificate = ret->certificate;
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    if (X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) != 1 ||
        !add_extension(certificate, &context, NID_basic_constraints, "critical,CA:TRUE") ||
        !add_extension(certificate, &context, NID_key_usage, "critical,keyCertSign,cRLSign") ||
        !add_extension(certificate, &context, NID_subject_key_identifier, "hash") ||
        X509_sign(certificate, ret->key, EVP_sha256()) == 0)
        return openssl_failed("cannot create the authority's certificate");
    return NULL;
}

/* "DNS:localhost,IP:127.0.0.1" for "localhost,127.0.0.1" */
static struct err *alternative_names(const char *hosts, char **ret)
{
    CLEANUP(freep) char *copy = mem_strdup(hosts);
    struct buffer names = {.limit = MAX_HOSTS * 2};
    unsigned char address[16];
    char *position = NULL;

    if (strlen(hosts) > MAX_HOSTS / 2)
        return err_new(ERR_INVALID, "the list of hosts is longer than %d characters",
                       MAX_HOSTS / 2);
    for (char *host = strtok_r(copy, ", ", &position); host;
         host = strtok_r(NULL, ", ", &position)) {
        bool is_address =
            inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
        buffer_printf(&names, "%s%s:%s", names.length ? "," : "", is_address ? "IP" : "DNS", host);
    }
    *ret = buffer_take(&names);
    return NULL;
}

static struct err *make_server(const struct pair *authority, const char *hosts, struct pair *ret)
{
    CLEANUP(freep) char *names = NULL;
    X509V3_CTX context;

    TRY(alternative_names(hosts, &names));
    TRY(make_pair("azsim", SERVER_DAYS, ret));
    X509 *certificate = ret->certificate;
    X509V3_set_ctx(&context, authority->certificate, certificate, NULL, NULL, 0);
    if (X509_set_issuer_name(certificate, X509_get_subject_name(authority->certificate)) != 1 ||
        !add_extension(certificate, &context, NID_basic_constraints, "critical,CA:FALSE") ||
        !add_extension(certificate, &context, NID_key_usage, "critical,digitalSignature") ||
        !add_extension(certificate, &context, NID_ext_key_usage, "serverAuth") ||
        !add_extension(certificate, &context, NID_subject_key_identifier, "hash") ||
        !add_extension(certificate, &context, NID_authority_key_identifier, "keyid:always") ||
        !add_extension(certificate, &context, NID_subject_alt_name, names) ||
        X509_sign(certificate, authority->key, EVP_sha256()) == 0)
        return openssl_failed(names);
    return NULL;
}

/* ---- PEM ---- */

static char *text_of(BIO *bio)
{
    char *data;
    long length = BIO_get_mem_data(bio, &data);
    char *text = mem_strndup(data, (size_t)length);

    BIO_free(bio);
    return text;
}

static char *certificate_pem(X509 *certificate)
{
    BIO *bio = BIO_new(BIO_s_mem());

    PEM_write_bio_X509(bio, certificate);
    return text_of(bio);
}

static char *key_pem(EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());

    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    return text_of(bio);
}

static struct err *write_file(const char *path, const char *text, mode_t mode)
{
    CLEANUP(freep) char *new_path = mem_printf("%s.new", path);
    int fd = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    struct err *err = done ? NULL : err_new(ERR_INTERNAL, "%s: %s", path, strerror(errno));

    if (fd >= 0)
        close(fd);
    if (!err && rename(new_path, path) < 0)
        err = err_new(ERR_INTERNAL, "%s: %s", path, strerror(errno));
    return err;
}

static struct err *read_pair(const char *certificate_path, const char *key_path, struct pair *ret)
{
    CLEANUP(freep) char *certificate = NULL;
    CLEANUP(freep) char *key = NULL;
    size_t length;

    TRY(file_read(certificate_path, MAX_PEM, &certificate, &length));
    TRY(file_read(key_path, MAX_PEM, &key, &length));
    BIO *certificate_bio = BIO_new_mem_buf(certificate, -1), *key_bio = BIO_new_mem_buf(key, -1);
    ret->certificate = PEM_read_bio_X509(certificate_bio, NULL, NULL, NULL);
    ret->key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
    BIO_free(certificate_bio);
    BIO_free(key_bio);
    if (!ret->certificate || !ret->key || X509_check_private_key(ret->certificate, ret->key) != 1)
        return err_new(ERR_INVALID, "%s and %s are not a certificate and its key", certificate_path,
                       key_path);
    return NULL;
}

/* The key is written first: a certificate is there only with its key. */
static struct err *open_authority(const char *folder, struct pair *ret)
{
    CLEANUP(freep) char *certificate_path = mem_printf("%s/ca.pem", folder);
    CLEANUP(freep) char *key_path = mem_printf("%s/ca-key.pem", folder);

    if (access(certificate_path, F_OK) == 0)
        return read_pair(certificate_path, key_path, ret);
    TRY(make_authority(ret));
    CLEANUP(freep) char *certificate = certificate_pem(ret->certificate);
    CLEANUP(freep) char *key = key_pem(ret->key);
    TRY(write_file(key_path, key, 0600));
    return write_file(certificate_path, certificate, 0644);
}

struct err *authority_issue(const char *folder, const char *hosts, struct server_certificate *ret)
{
    CLEANUP(pair_finip) struct pair authority = {0};
    CLEANUP(pair_finip) struct pair server = {0};

    TRY(open_authority(folder, &authority));
    TRY(make_server(&authority, hosts, &server));
    ret->certificate_pem = certificate_pem(server.certificate);
    ret->key_pem = key_pem(server.key);
    return NULL;
}

void server_certificate_fini(struct server_certificate *certificate)
{
    free(certificate->certificate_pem);
    free(certificate->key_pem);
    *certificate = (struct server_certificate){0};
}
