/* x509_text.h - certificates, keys and their times from and to text, for the files of this folder
 * that speak with OpenSSL.
 */
#pragma once

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"

static inline void x509_freep(X509 **certificate)
{
    X509_free(*certificate);
}

static inline void bio_freep(BIO **bio)
{
    BIO_free(*bio);
}

/* To read from; `pem` must outlive it. */
static inline BIO *x509_text_bio(const char *pem)
{
    return BIO_new_mem_buf(pem ? pem : "", -1);
}

/* What was written to it; free() it, or secret_free(). */
static inline char *x509_bio_text(BIO *bio)
{
    char *data;
    long length = BIO_get_mem_data(bio, &data);

    return mem_strndup(data, (size_t)length);
}

/* 0 of a time that cannot be read. */
static inline int64_t x509_time_us(const ASN1_TIME *time)
{
    struct tm parts;

    return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) * 1000000 : 0;
}
