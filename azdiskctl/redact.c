#include "azdiskctl/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"

enum {
    LONGEST_NAME = 64,            /* of which the end counts */
    LARGEST_KEY = 16 * 1024,      /* a private key as text */
    ACCOUNT_KEY = 86,             /* of a storage account: 64 bytes in base64, without its "==" */
    LEAST_JWT_PART = 8,           /* of its first and second */
    LEAST_CLIENT_SECRET_END = 31, /* behind the "Q~" of one that Entra ID has made */
    MOST_SEPARATORS = 3,          /* between a name and its value */
    GROWTH = 16,                  /* a text of "pwd=x" grows less */
};

/* What goes on to a blank or a quote: where that is, and its last "@", or where it begins. */
struct word {
    size_t end, at_sign;
};

struct text {
    const char *data;
    size_t length;
    struct word *word; /* the last that was looked at, so that one of many URLs is read once */
};

/* A secret: from there to before there. */
struct secret {
    size_t from, to;
};

/* ---- what a text is made of ---- */

static bool is_one_of(const struct text *text, size_t at, const char *characters)
{
    return at < text->length && text->data[at] && strchr(characters, text->data[at]);
}

/* A letter, a digit or one of the others. */
static bool is_in(const struct text *text, size_t at, const char *others)
{
    return (at < text->length && isalnum((unsigned char)text->data[at])) ||
           is_one_of(text, at, others);
}

static size_t end_of_run(const struct text *text, size_t at, const char *others)
{
    while (is_in(text, at, others))
        at++;
    return at;
}

static bool begins_run(const struct text *text, size_t at, const char *others)
{
    return is_in(text, at, others) && (at == 0 || !is_in(text, at - 1, others));
}

static size_t end_of_blanks(const struct text *text, size_t at)
{
    while (is_one_of(text, at, " \t"))
        at++;
    return at;
}

static bool has(const struct text *text, size_t at, const char *word)
{
    size_t length = strlen(word);

    return at + length <= text->length && strncasecmp(text->data + at, word, length) == 0;
}

/* Where `word` is, from `at` on; the length of the text if it is nowhere. */
static size_t find(const struct text *text, size_t at, const char *word)
{
    const char *found =
        at < text->length ? memmem(text->data + at, text->length - at, word, strlen(word)) : NULL;

    return found ? (size_t)(found - text->data) : text->length;
}

/* ---- names of secrets ---- */

#define OF_NAMES "_-."

static const struct {
    const char *word; /* at the end of the name */
    bool whole;       /* no letter before it */
    bool line;        /* its value has blanks */
} names[] = {
    {"password", false, false},     {"passwd", false, false},
    {"passphrase", false, false},   {"pwd", false, false},
    {"pass", true, false},          {"secret", false, false},
    {"token", false, false},        {"credential", false, false},
    {"assertion", false, false},    {"signature", false, false},
    {"sig", true, false},           {"accesskey", false, false},
    {"accountkey", false, false},   {"apikey", false, false},
    {"privatekey", false, false},   {"secretkey", false, false},
    {"sharedkey", false, false},    {"keydata", false, false},
    {"tlskey", false, false},       {"connectionstring", false, true},
    {"authorization", false, true}, {"cookie", false, true},
};

/* The end of a name in small letters, without what is between its words. */
static size_t plain_name(const char *name, size_t length, char plain[LONGEST_NAME])
{
    size_t from = length > LONGEST_NAME ? length - LONGEST_NAME : 0, n = 0;

    for (size_t i = from; i < length; i++)
        if (isalnum((unsigned char)name[i]))
            plain[n++] = (char)tolower((unsigned char)name[i]);
    while (n && isdigit((unsigned char)plain[n - 1]))
        n--;
    return n;
}

static bool ends_in(const char *plain, size_t n, size_t row)
{
    size_t length = strlen(names[row].word);

    return n >= length && memcmp(plain + n - length, names[row].word, length) == 0 &&
           !(names[row].whole && n > length && isalpha((unsigned char)plain[n - length - 1]));
}

/* The row of the table; COUNT_OF(names) if it is no secret's name. */
static size_t row_of(const char *name, size_t length)
{
    char plain[LONGEST_NAME];
    size_t n = plain_name(name, length, plain), singular = n && plain[n - 1] == 's' ? n - 1 : n;

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (ends_in(plain, n, i) || ends_in(plain, singular, i))
            return i;
    return COUNT_OF(names);
}

bool redact_is_name(const char *name, size_t length)
{
    return row_of(name, length) < COUNT_OF(names);
}

/* ---- name=value ---- */

static bool is_quote(const struct text *text, size_t at)
{
    return is_one_of(text, at, "\"'`");
}

/* Behind a quote, with the backslashes before it, as in JSON within JSON. */
static size_t end_of_quote(const struct text *text, size_t at, size_t *ret_backslashes)
{
    size_t end = at;

    while (end < text->length && text->data[end] == '\\')
        end++;
    *ret_backslashes = end - at;
    return is_quote(text, end) ? end + 1 : at;
}

/* Behind what is between a name and its value; the same place if that is none. */
static size_t end_of_separator(const struct text *text, size_t at, bool is_flag)
{
    size_t unused, end = end_of_blanks(text, end_of_quote(text, at, &unused)), from = end;

    if (has(text, end, "%3D"))
        return end + 3;
    while (end < from + MOST_SEPARATORS && is_one_of(text, end, "=:>"))
        end++;
    if (end == from && !(is_flag && end > at))
        return at;
    while (is_one_of(text, end, " \t[{"))
        end++;
    return end;
}

/* Up to the same quote, with no more backslashes before it than the first one has; two of them are
 * one, as in YAML. */
static size_t end_of_quoted(const struct text *text, size_t at, char quote, size_t backslashes)
{
    size_t before = 0;

    for (; at < text->length && text->data[at] != '\n'; at++) {
        bool is_twice = !before && has(text, at + 1, (const char[]){quote, '\0'});

        if (text->data[at] == quote && before <= backslashes && !is_twice)
            return at - before;
        if (text->data[at] == quote && is_twice)
            at++;
        before = text->data[at] == '\\' ? before + 1 : 0;
    }
    return at;
}

static size_t end_of_word(const struct text *text, size_t at, bool line)
{
    for (; at < text->length && text->data[at] != '\n' && !is_quote(text, at); at++)
        if (!line && isspace((unsigned char)text->data[at]))
            return at;
    return at;
}

static bool is_named(const struct text *text, size_t at, struct secret *ret)
{
    if (!begins_run(text, at, OF_NAMES))
        return false;
    size_t end = end_of_run(text, at, OF_NAMES), row = row_of(text->data + at, end - at);
    if (row == COUNT_OF(names))
        return false;
    size_t backslashes, value = end_of_separator(text, end, has(text, at, "--"));
    if (value == end)
        return false;
    ret->from = end_of_quote(text, value, &backslashes);
    ret->to = ret->from > value
                  ? end_of_quoted(text, ret->from, text->data[ret->from - 1], backslashes)
                  : end_of_word(text, value, names[row].line);
    return ret->to > ret->from;
}

/* ---- what is a secret by its looks ---- */

#define OF_TOKENS "-._~+/="

static bool is_bearer(const struct text *text, size_t at, struct secret *ret)
{
    static const char word[] = "bearer";

    if (!has(text, at, word) || (at && is_in(text, at - 1, "")))
        return false;
    ret->from = end_of_blanks(text, at + strlen(word));
    ret->to = end_of_run(text, ret->from, OF_TOKENS);
    return ret->from > at + strlen(word) && ret->to > ret->from;
}

static bool is_jwt(const struct text *text, size_t at, struct secret *ret)
{
    bool escaped = at > 1 && text->data[at - 2] == '\\'; /* "\neyJ" */

    if (!has(text, at, "eyJ") || !(escaped || begins_run(text, at, "_-")))
        return false;
    size_t header = end_of_run(text, at, "_-"), claims = end_of_run(text, header + 1, "_-");

    *ret = (struct secret){at, end_of_run(text, header, "_-.")};
    return header - at >= LEAST_JWT_PART && has(text, header, ".") &&
           claims > header + LEAST_JWT_PART;
}

static bool is_client_secret(const struct text *text, size_t at, struct secret *ret)
{
    if (!has(text, at + 4, "Q~") || !isdigit((unsigned char)text->data[at + 3]))
        return false;
    *ret = (struct secret){at, end_of_run(text, at, "_~.-")};
    return ret->to >= at + 6 + LEAST_CLIENT_SECRET_END;
}

static bool is_account_key(const struct text *text, size_t at, struct secret *ret)
{
    if (!begins_run(text, at, "+/"))
        return false;
    size_t end = end_of_run(text, at, "+/");

    *ret = (struct secret){at, end + 2};
    return end - at == ACCOUNT_KEY && has(text, end, "==");
}

/* A certificate or key in base64, as in kubeconfigs. */
static bool is_encoded_pem(const struct text *text, size_t at, struct secret *ret)
{
    if (!begins_run(text, at, "+/=") || !has(text, at, "LS0tLS1CRUdJTi"))
        return false;
    *ret = (struct secret){at, end_of_run(text, at, "+/=")};
    return true;
}

/* An apostrophe does not end it: in a URL, it stands for itself. */
static void look_at_word(const struct text *text, size_t at)
{
    struct word *word = text->word;

    if (at < word->end)
        return;
    for (*word = (struct word){at, at};
         word->end < text->length && !isspace((unsigned char)text->data[word->end]) &&
         !is_one_of(text, word->end, "\"`");
         word->end++)
        if (text->data[word->end] == '@')
            word->at_sign = word->end;
}

/* https://user:password@host. Some write a password as it is, with "@", "/", "?" and "#" in it: it
 * goes up to the last "@", and rather a path is lost than the rest of a password is left. */
static bool is_in_url(const struct text *text, size_t at, struct secret *ret)
{
    if (!has(text, at, "://"))
        return false;
    look_at_word(text, at);
    size_t colon = at + 3;
    while (colon < text->word->at_sign && text->data[colon] != ':')
        colon++;
    *ret = (struct secret){colon + 1, text->word->at_sign};
    return ret->to > ret->from;
}

/* Behind the line "-----<which> RSA PRIVATE KEY-----" that begins there; `at` if none does. */
static size_t end_of_mark(const struct text *text, size_t at, const char *which)
{
    static const char last[] = "PRIVATE KEY-----";

    if (!has(text, at, which))
        return at;
    size_t end = at + strlen(which);
    while (end < text->length &&
           (isupper((unsigned char)text->data[end]) || text->data[end] == ' ') &&
           !has(text, end, last))
        end++;
    return has(text, end, last) ? end + strlen(last) : at;
}

/* False if there is no such end of a key. */
static bool find_end_of_key(const struct text *text, size_t at, size_t *ret_end)
{
    static const char which[] = "-----END ";

    for (at = find(text, at, which); at < text->length; at = find(text, at + 1, which)) {
        size_t end = end_of_mark(text, at, which);

        if (end > at) {
            *ret_end = end;
            return true;
        }
    }
    return false;
}

/* One that does not end goes on to the end of the text. */
static bool is_private_key(const struct text *text, size_t at, struct secret *ret)
{
    size_t begun = end_of_mark(text, at, "-----BEGIN ");

    *ret = (struct secret){at, text->length};
    if (begun > at)
        (void)find_end_of_key(text, begun, &ret->to);
    return begun > at;
}

/* The rest of a key of which the beginning was cut off. */
static bool is_rest_of_key(const struct text *text, size_t at, struct secret *ret)
{
    struct text head = {.data = text->data,
                        .length = text->length < LARGEST_KEY ? text->length : LARGEST_KEY};

    *ret = (struct secret){0, 0};
    return at == 0 && find_end_of_key(&head, 0, &ret->to) &&
           find(&head, 0, "-----BEGIN ") >= ret->to;
}

/* ---- all of them ---- */

static bool is_secret(const struct text *text, size_t at, struct secret *ret)
{
    static bool (*const rules[])(const struct text *, size_t, struct secret *) = {
        is_rest_of_key, is_private_key,   is_named,       is_bearer,      is_jwt,
        is_in_url,      is_client_secret, is_account_key, is_encoded_pem,
    };

    for (size_t i = 0; i < COUNT_OF(rules); i++)
        if (rules[i](text, at, ret))
            return true;
    return false;
}

static void add(struct buffer *out, const char *data, size_t length)
{
    if (!buffer_append(out, data, length))
        abort(); /* GROWTH is too small */
}

char *redact_text(const char *text, size_t length, size_t *ret_length)
{
    struct word word = {0};
    const struct text whole = {text, length, &word};
    struct secret secret;
    struct buffer out;
    size_t done = 0;

    buffer_init(&out, GROWTH * length + 1);
    for (size_t at = 0; at < length;) {
        if (!is_secret(&whole, at, &secret)) {
            at++;
            continue;
        }
        add(&out, text + done, secret.from - done);
        add(&out, REDACTED, strlen(REDACTED));
        at = done = secret.to;
    }
    add(&out, text + done, length - done);
    *ret_length = out.length;
    return buffer_take(&out);
}
