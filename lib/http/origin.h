/* origin.h - whose a URL is: its scheme, host and port.
 *
 * For URLs that an answer says, before a credential goes there, and for what no proxy can reach.
 * They are taken apart by libcurl, which also sends the request, so that the two never differ over
 * what the host is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether both URLs are of the same scheme, host and port, and the first one names no user. False
 * if either is no URL. */
bool http_same_origin(const char *url, const char *home);

/* Whether the host is "localhost", or an address by which a machine calls itself. */
bool http_is_loopback(const char *url);
