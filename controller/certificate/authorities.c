#include "controller/certificate/authorities.h"

#include <openssl/err.h>
#include <stdlib.h>

#include "controller/certificate/x509_text.h"

/* Those of a bundle in their order. */
struct authorities {
    X509 **items;
    size_t n;
};

static void authorities_fini(struct authorities *authorities)
{
    for (size_t i = 0; i < authorities->n; i++)
        X509_free(authorities->items[i]);
    free(authorities->items);
}

/* Up to the first that cannot be read. */
static void add(struct authorities *authorities, const char *pem, size_t most)
{
    CLEANUP(bio_freep) BIO *bio = x509_text_bio(pem);
    X509 *certificate;

    for (size_t i = 0; i < most && (certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL)); i++)
        ARRAY_ADD(authorities->items, authorities->n) = certificate;
    ERR_clear_error();
}

static bool has(const struct authorities *authorities, const X509 *certificate)
{
    for (size_t i = 0; i < authorities->n; i++)
        if (X509_cmp(authorities->items[i], certificate) == 0)
            return true;
    return false;
}

static int64_t began(const X509 *certificate)
{
    return x509_time_us(X509_get0_notBefore(certificate));
}

/* The latest of those that are neither wanted anyway nor over. */
static X509 *predecessor(const struct authorities *bundle, const struct authorities *wanted,
                         int64_t now_us)
{
    X509 *latest = NULL;

    for (size_t i = 0; i < bundle->n; i++) {
        X509 *each = bundle->items[i];

        if (!has(wanted, each) && x509_time_us(X509_get0_notAfter(each)) > now_us &&
            (!latest || began(each) > began(latest)))
            latest = each;
    }
    return latest;
}

static char *text_of(const struct authorities *authorities)
{
    CLEANUP(bio_freep) BIO *bio = BIO_new(BIO_s_mem());

    if (!bio)
        abort();
    for (size_t i = 0; i < authorities->n; i++)
        if (!PEM_write_bio_X509(bio, authorities->items[i]))
            abort();
    return x509_bio_text(bio);
}

char *authorities_wanted(const char *bundle, const char *current, const char *next, int64_t now_us)
{
    CLEANUP(authorities_fini) struct authorities there = {0};
    CLEANUP(authorities_fini) struct authorities wanted = {0};

    add(&there, bundle, SIZE_MAX);
    add(&wanted, current, 1);
    add(&wanted, next, 1);
    X509 *before = wanted.n < MOST_AUTHORITIES ? predecessor(&there, &wanted, now_us) : NULL;
    if (before) {
        X509_up_ref(before);
        ARRAY_ADD(wanted.items, wanted.n) = before;
    }
    return text_of(&wanted);
}

bool authorities_are(const char *bundle, const char *wanted)
{
    CLEANUP(authorities_fini) struct authorities there = {0};
    CLEANUP(authorities_fini) struct authorities those = {0};

    add(&there, bundle, SIZE_MAX);
    add(&those, wanted, SIZE_MAX);
    if (there.n != those.n)
        return false;
    for (size_t i = 0; i < those.n; i++)
        if (!has(&there, those.items[i]))
            return false;
    return true;
}
