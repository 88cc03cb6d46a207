/* A log, or an object as JSON, as `azdiskctl bundle` gives them to others. A secret is put into the
 * middle of the log. */
#include "azdiskctl/redact.h"
#include "azdiskctl/redact_object.h"
#include "lib/json/parse.h"
#include "test/fuzz/input.h"

#define SECRET "pl4nt3d"
#define LINE "\npassword=" SECRET "\n"

static bool is_in(const char *text, size_t length)
{
    return length && memmem(text, length, SECRET, strlen(SECRET));
}

static void check_log(const char *data, size_t size)
{
    size_t half = size / 2, length, redacted_length;
    CLEANUP(freep) char *log = mem_alloc(size + strlen(LINE));

    memcpy(log, data, half);
    memcpy(log + half, LINE, strlen(LINE));
    memcpy(log + half + strlen(LINE), data + half, size - half);
    length = size + strlen(LINE);
    CLEANUP(freep) char *redacted = redact_text(log, length, &redacted_length);
    MUST(!is_in(redacted, redacted_length));
}

static void check_object(const char *data, size_t size)
{
    CLEANUP(json_decrefp) json_t *object = NULL;

    if (!input_taken(json_parse_here(data, size, &object)))
        return;
    CLEANUP(json_decrefp) json_t *redacted = redact_object(object);
    MUST(json_typeof(redacted) == json_typeof(object) || json_is_string(redacted));
    CLEANUP(freep) char *text = json_to_text(redacted);
    MUST(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (is_in((const char *)data, size) || size == 0)
        return 0;
    check_log((const char *)data, size);
    check_object((const char *)data, size);
    return 0;
}
