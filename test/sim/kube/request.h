/* request.h - requests to the simulated API server, as a transport takes them.
 */
#pragma once

#include "lib/http/transport.h"

struct err *request_exchange(struct http_transport *http, struct task *self,
                             const struct http_request *request, struct http_response *ret)
    __attribute__((warn_unused_result));
struct err *request_open(struct http_transport *http, struct task *self,
                         const struct http_request *request, struct http_response *ret_response,
                         struct http_stream **ret_stream) __attribute__((warn_unused_result));
