#include "lib/http/server_tls.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

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

void server_tls_demand_certificate(struct MHD_Connection *connection)
{
    static gnutls_typed_vdata_st for_clients = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID,
        .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT,
    };
    gnutls_session_t session =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;

    gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
    gnutls_session_set_verify_cert2(session, &for_clients, 1, 0);
}
