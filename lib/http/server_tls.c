#include "lib/http/server_tls.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/http/certificates.h"

#define VERSIONS "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct err *server_tls_check(const struct http_server_config *config)
{
    if (!config->certificate_pem)
        return NULL;
    TRY(certificates_check_pair(config->certificate_pem, config->key_pem));
    struct err *err = config->client_ca_pem ? certificates_check(config->client_ca_pem) : NULL;
    return err ? err_wrap(err, "certificate authority of clients") : NULL;
}

static struct MHD_OptionItem text_option(enum MHD_OPTION option, const char *text)
{
    return (struct MHD_OptionItem){option, 0, (void *)(uintptr_t)text};
}

void server_tls_options(const struct http_server_config *config,
                        struct MHD_OptionItem options[SERVER_TLS_OPTIONS])
{
    size_t n = 0;

    if (config->certificate_pem) {
        options[n++] = text_option(MHD_OPTION_HTTPS_MEM_CERT, config->certificate_pem);
        options[n++] = text_option(MHD_OPTION_HTTPS_MEM_KEY, config->key_pem);
        options[n++] = text_option(MHD_OPTION_HTTPS_PRIORITIES, VERSIONS);
        if (config->client_ca_pem)
            options[n++] = text_option(MHD_OPTION_HTTPS_MEM_TRUST, config->client_ca_pem);
    }
    options[n] = text_option(MHD_OPTION_END, NULL);
}

static gnutls_session_t session_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;
}

void server_tls_demand_certificate(struct MHD_Connection *connection)
{
    static gnutls_typed_vdata_st for_clients = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID,
        .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT,
    };
    gnutls_session_t session = session_of(connection);

    gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
    gnutls_session_set_verify_cert2(session, &for_clients, 1, 0);
}

/* ---- another certificate ---- */

struct server_identity {
    atomic_uint references;
    gnutls_certificate_credentials_t credentials;
};

static gnutls_datum_t text_datum(const char *text)
{
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
}

struct err *server_identity_new(const char *certificate_pem, const char *key_pem,
                                struct server_identity **ret)
{
    const gnutls_datum_t certificate = text_datum(certificate_pem), key = text_datum(key_pem);
    gnutls_certificate_credentials_t credentials;

    TRY(certificates_check_pair(certificate_pem, key_pem));
    if (gnutls_certificate_allocate_credentials(&credentials) != 0)
        abort();
    int fault =
        gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
    if (fault < 0) {
        gnutls_certificate_free_credentials(credentials);
        return err_new(ERR_INVALID, "the certificate cannot be used: %s", gnutls_strerror(fault));
    }
    *ret = mem_alloc(sizeof **ret);
    (*ret)->credentials = credentials;
    atomic_init(&(*ret)->references, 1);
    return NULL;
}

struct server_identity *server_identity_ref(struct server_identity *identity)
{
    if (identity)
        atomic_fetch_add(&identity->references, 1);
    return identity;
}

void server_identity_unref(struct server_identity *identity)
{
    if (!identity || atomic_fetch_sub(&identity->references, 1) > 1)
        return;
    gnutls_certificate_free_credentials(identity->credentials);
    free(identity);
}

void server_identity_show(const struct server_identity *identity, struct MHD_Connection *connection)
{
    gnutls_credentials_set(session_of(connection), GNUTLS_CRD_CERTIFICATE, identity->credentials);
}
