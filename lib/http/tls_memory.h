/* tls_memory.h - what certificates and connections leave in memory.
 *
 * OpenSSL clears the numbers of a private key before it frees them, but neither the file's text
 * that they were read from nor what came through a connection; libcurl clears nothing.
 */
#pragma once

/* From now on everything that OpenSSL and libcurl free is cleared. To be called before anything
 * uses them; later is a bug and aborts. */
void tls_memory_clear_freed(void);
