#include "lib/http/exec_probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/http/listen.h"

enum { LARGEST_ANSWER = 2048, PATIENCE_SECONDS = 5 };

static void closep(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* The whole answer as text. */
static struct err *ask(const char *address, const char *path, char answer[LARGEST_ANSWER])
{
    struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    CLEANUP(freep) char *request = mem_printf("GET %s HTTP/1.0\r\n\r\n", path);
    struct sockaddr_un to;
    size_t length = 0;
    ssize_t n;

    TRY(listen_unix_address(address, &to));
    CLEANUP(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 ||
        send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
        return err_new(ERR_UNAVAILABLE, "%s: %s", address, strerror(errno));
    while ((n = recv(fd, answer + length, LARGEST_ANSWER - 1 - length, 0)) > 0)
        length += (size_t)n;
    if (n < 0)
        return err_new(ERR_UNAVAILABLE, "%s: no answer: %s", address, strerror(errno));
    answer[length] = '\0';
    return NULL;
}

int exec_probe(const char *address, const char *path)
{
    char answer[LARGEST_ANSWER];
    int status = 0;
    CLEANUP(err_freep) struct err *err = NULL;

    if (strncmp(address, LISTEN_UNIX, strlen(LISTEN_UNIX)) != 0)
        err = err_new(ERR_INVALID, "%s: the address must be a Unix socket", address);
    else
        err = ask(address, path, answer);
    if (err) {
        printf("%s\n", err_message(err));
        return 1;
    }
    const char *body = strstr(answer, "\r\n\r\n");
    sscanf(answer, "HTTP/%*s %d", &status);
    printf("%s", body ? body + 4 : "the answer is not HTTP\n");
    return status == 200 ? 0 : 1;
}
