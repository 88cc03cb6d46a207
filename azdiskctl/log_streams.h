/* log_streams.h - the logs of containers, each read on as it grows.
 *
 * A container is known by its pod's and its own name. Its log ends with it, or because something
 * breaks, and is then opened again, with growing pauses as long as that brings nothing new; which
 * lines were printed before, its cursor knows. What the container before it still had to say when
 * it was restarted is read first.
 *
 * What cannot be read is said on stderr, once until there is something to read again. Loop's
 * thread.
 */
#pragma once

#include "azdiskctl/log_printer.h"
#include "azdiskctl/logs.h"
#include "lib/rt/group.h"

enum { MOST_LOG_STREAMS = 128 }; /* at once: each may need 2 MiB */

struct log_stream;

struct log_streams {
    const struct logs_config *config;
    const struct log_names *names; /* of the lines that are wanted */
    struct bearer_token *token;
    struct log_printer *printer;
    struct loop *loop;
    uint64_t begun;
    struct log_stream **items;
    size_t n, n_open;
    struct task_group group; /* of those that are open; `ended` is woken also when nothing more can
                              * be printed */
    bool incomplete;         /* something could not be read */
};

void log_streams_close(struct task *self, struct log_streams *streams);

/* These containers are there now (log_source.h), and no others. */
void log_streams_set(struct log_streams *streams, const json_t *sources);
/* The log of one of them has been read so far. */
void log_streams_were_read(struct log_streams *streams, const json_t *source,
                           const struct log_extent *extent);
/* Opens those that are due. */
void log_streams_open(struct log_streams *streams);

/* On stderr: what of a container, or of all (NULL), cannot be read. */
void log_streams_tell(struct log_streams *streams, const json_t *source, const char *why);
