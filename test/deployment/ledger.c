/* ledger.c - a tiny database for demonstration and tests: numbered records that are on the disk
 * before they are acknowledged.
 *
 *     ledger FILE PORT
 *
 * A client sends "put NUMBER TEXT"; the record is appended with a checksum, synced, and answered by
 * "ok NUMBER". "count" answers how many good records there are and the number of the last one. A
 * record whose checksum does not fit, as a power cut in the middle of a write leaves it, ends the
 * file: it is cut off at the start.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONGEST = 256 };

static FILE *file;
static unsigned long count, last;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* FNV-1a */
static uint32_t checksum(const char *text, size_t length)
{
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)text[i]) * 16777619u;
    return sum;
}

/* A record is "CHECKSUM NUMBER TEXT\n". */
static int is_good(const char *line, unsigned long *ret_number)
{
    char *body;
    uint32_t sum = (uint32_t)strtoul(line, &body, 16);
    size_t length = strlen(line);

    if (body != line + 8 || *body != ' ' || line[length - 1] != '\n')
        return 0;
    *ret_number = strtoul(body + 1, NULL, 10);
    return checksum(body + 1, length - 1 - (size_t)(body + 1 - line)) == sum;
}

static void recover(const char *path)
{
    char line[LONGEST];
    long good = 0;

    if (!(file = fopen(path, "a+")))
        die(path);
    rewind(file);
    while (fgets(line, sizeof line, file) && is_good(line, &last)) {
        good = ftell(file);
        count++;
    }
    if (ftruncate(fileno(file), good) < 0 || fsync(fileno(file)) < 0)
        die(path);
    fseek(file, 0, SEEK_END);
    printf("%lu records, the last is number %lu\n", count, last);
    fflush(stdout);
}

static void put(FILE *answers, const char *record)
{
    if (fprintf(file, "%08x %s\n", checksum(record, strlen(record)), record) < 0 ||
        fflush(file) != 0 || fdatasync(fileno(file)) < 0)
        die("write");
    last = strtoul(record, NULL, 10);
    count++;
    fprintf(answers, "ok %lu\n", last);
}

static void serve(int connection)
{
    FILE *requests = fdopen(connection, "r"), *answers = fdopen(dup(connection), "w");
    char line[LONGEST / 2];

    if (!requests || !answers)
        die("connection");
    while (fgets(line, sizeof line, requests)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "put ", 4) == 0)
            put(answers, line + 4);
        else if (strcmp(line, "count") == 0)
            fprintf(answers, "%lu %lu\n", count, last);
        else
            fprintf(answers, "what?\n");
        if (fflush(answers) != 0)
            break;
    }
    fclose(requests);
    fclose(answers);
}

static void end(int number)
{
    (void)number;
    _exit(0);
}

int main(int argc, char *argv[])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

    if (argc != 3)
        return 2;
    signal(SIGTERM, end);
    signal(SIGPIPE, SIG_IGN);
    recover(argv[1]);
    address.sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10));
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 8) < 0)
        die("listen");
    for (;;) {
        int connection = accept(listener, NULL, NULL);

        if (connection >= 0)
            serve(connection);
    }
}
