#include "test/unit/lib/http/strangers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/http/listen.h"
#include "test/unit/expect.h"

char *free_address(void)
{
    int fd;

    assert_ok(listen_on("127.0.0.1:0", &fd));
    char *address = mem_printf("127.0.0.1:%u", listen_port(fd));
    close(fd);
    return address;
}

int connect_and_say(unsigned port, const char *said)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(fd, said, strlen(said), MSG_NOSIGNAL), strlen(said));
    return fd;
}
