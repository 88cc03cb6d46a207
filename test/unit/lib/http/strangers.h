/* strangers.h - where a test's server may listen, and clients that do not say what they should.
 */
#pragma once

/* An address on which nobody listens: "127.0.0.1:PORT". free() it. */
char *free_address(void);

/* A connection of a client that then says no more than this. The caller closes it. */
int connect_and_say(unsigned port, const char *said);
