#include "lib/kube/impersonation.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/kube/kubeconfig_member.h"

#define USER "Impersonate-User"
#define UID "Impersonate-Uid"
#define GROUP "Impersonate-Group"
#define EXTRA "Impersonate-Extra-"

enum {
    MOST_HEADERS = 1024, /* people in Entra ID have some hundred groups */
    LARGEST_NAME = 1024 * 1024 * 3 + sizeof EXTRA,
};

void impersonation_fini(struct impersonation *impersonation)
{
    for (size_t i = 0; i < impersonation->n; i++) {
        free((char *)(uintptr_t)impersonation->headers[i].name);
        free((char *)(uintptr_t)impersonation->headers[i].value);
    }
    free(impersonation->headers);
    *impersonation = (struct impersonation){0};
}

static bool has(const struct impersonation *impersonation, const char *header)
{
    return http_header_find(impersonation->headers, impersonation->n, header);
}

/* ---- one header ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* As it is, and as nothing else: servers take blanks away from both ends. */
static bool arrives_whole(const char *value)
{
    size_t length = strlen(value);

    for (size_t i = 0; i < length; i++)
        if ((unsigned char)value[i] < ' ' || value[i] == '\x7f')
            return false;
    return length > 0 && !is_blank(value[0]) && !is_blank(value[length - 1]);
}

static struct err *add_header(struct impersonation *impersonation, const char *header,
                              const char *value)
{
    if (!arrives_whole(value))
        return err_new(ERR_INVALID,
                       "is empty, begins or ends with a blank, or has a control character");
    if (impersonation->n == MOST_HEADERS)
        return err_new(ERR_INVALID, "is one of more than %d", MOST_HEADERS);
    ARRAY_ADD(impersonation->headers, impersonation->n) =
        (struct http_header){mem_strdup(header), mem_strdup(value)};
    return NULL;
}

/* The key may be any text, but a header's name may not; case does not matter to the server. */
static char *extra_header(const char *key)
{
    struct buffer name = {.limit = LARGEST_NAME};

    buffer_printf(&name, EXTRA);
    for (; *key; key++) {
        unsigned char c = (unsigned char)*key;
        bool as_it_is = (c < 0x80 && isalnum(c)) || strchr("!#$&'*+-.^_`|~", c);

        buffer_printf(&name, as_it_is ? "%c" : "%%%02X", c);
    }
    return buffer_take(&name);
}

/* ---- what a person says ---- */

static struct err *choose(struct impersonation *impersonation, const char *header,
                          const char *value, const char *flag)
{
    struct err *err = add_header(impersonation, header, value);

    return err ? err_wrap(err, "%s", flag) : NULL;
}

struct err *impersonation_choose(const struct impersonation_choice *choice,
                                 struct impersonation *impersonation)
{
    if (choice->user && *choice->user)
        TRY(choose(impersonation, USER, choice->user, "--as"));
    if (choice->uid && *choice->uid)
        TRY(choose(impersonation, UID, choice->uid, "--as-uid"));
    for (size_t i = 0; i < choice->n_groups; i++)
        TRY(choose(impersonation, GROUP, choice->groups[i], "--as-group"));
    return NULL;
}

/* ---- what the kubeconfig says ---- */

static struct err *add_text(struct impersonation *impersonation, const char *header,
                            const json_t *user, const char *member)
{
    const char *value;

    TRY(kubeconfig_text(user, member, &value));
    if (!value || has(impersonation, header))
        return NULL;
    struct err *err = add_header(impersonation, header, value);
    return err ? err_wrap(err, "%s", member) : NULL;
}

/* `what`: how the list is called in errors. */
static struct err *add_list(struct impersonation *impersonation, const char *header,
                            const json_t *list, const char *what)
{
    if (list && !json_is_null(list) && !json_is_array(list))
        return err_new(ERR_INVALID, "%s is not a list", what);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *value = json_string_value(json_array_get(list, i));
        struct err *err = value ? add_header(impersonation, header, value)
                                : err_new(ERR_INVALID, "is not a string; put it in quotes");

        if (err)
            return err_wrap(err, "%s[%zu]", what, i);
    }
    return NULL;
}

static struct err *add_extra(struct impersonation *impersonation, const json_t *extra)
{
    const char *key;
    json_t *values;

    if (extra && !json_is_null(extra) && !json_is_object(extra))
        return err_new(ERR_INVALID, "as-user-extra is not a map of lists");
    json_object_foreach((json_t *)(uintptr_t)extra, key, values) {
        if (!*key)
            return err_new(ERR_INVALID, "as-user-extra has an empty key");
        CLEANUP(freep) char *header = extra_header(key);
        CLEANUP(freep) char *what = mem_printf("as-user-extra \"%s\"", key);
        TRY(add_list(impersonation, header, values, what));
    }
    return NULL;
}

struct err *impersonation_add(const json_t *user, struct impersonation *impersonation)
{
    TRY(add_text(impersonation, USER, user, "as"));
    TRY(add_text(impersonation, UID, user, "as-uid"));
    if (!has(impersonation, GROUP))
        TRY(add_list(impersonation, GROUP, json_object_get(user, "as-groups"), "as-groups"));
    return add_extra(impersonation, json_object_get(user, "as-user-extra"));
}

struct err *impersonation_check(const struct impersonation *impersonation)
{
    if (impersonation->n == 0 || has(impersonation, USER))
        return NULL;
    return err_new(ERR_INVALID, "%s, but no user to impersonate (as)",
                   has(impersonation, UID)     ? "a uid"
                   : has(impersonation, GROUP) ? "groups"
                                               : "extra values");
}
