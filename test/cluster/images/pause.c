/*
 * First process of a pod's sandbox and of a machine of the test cluster: it exists so that the
 * namespaces do, and reaps the orphans that end up as its children. Linked statically.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void reap(int signal_number)
{
    int saved = errno;

    (void)signal_number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    errno = saved;
}

static void leave(int signal_number)
{
    (void)signal_number;
    _exit(0);
}

int main(void)
{
    struct sigaction reaping = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP | SA_RESTART};
    struct sigaction leaving = {.sa_handler = leave};

    sigaction(SIGCHLD, &reaping, NULL);
    sigaction(SIGINT, &leaving, NULL);
    sigaction(SIGTERM, &leaving, NULL);
    reap(SIGCHLD);
    for (;;)
        pause();
}
