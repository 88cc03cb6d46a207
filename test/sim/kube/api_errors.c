#include "test/sim/kube/api_errors.h"

#include "lib/base/alloc.h"

struct err *refuse_because(enum err_kind error, const char *reason, const char *what)
{
    return err_with_code(err_new(error, "%s", what), reason);
}

struct err *refuse_request(const char *what)
{
    return refuse_because(ERR_INVALID, "BadRequest", what);
}

struct err *refuse_object(enum err_kind error, const char *reason, const struct kind *kind,
                          const char *name, const char *what)
{
    const struct api_resource *resource = kind->resource;

    return err_with_code(err_new(error, "%s%s%s \"%s\" %s", resource->plural,
                                 resource->group[0] ? "." : "", resource->group, name, what),
                         reason);
}

struct err *refuse_not_found(const struct kind *kind, const char *name)
{
    return refuse_object(ERR_NOT_FOUND, "NotFound", kind, name, "not found");
}

struct err *refuse_existing(const struct kind *kind, const char *name)
{
    return refuse_object(ERR_EXISTS, "AlreadyExists", kind, name, "already exists");
}

struct err *refuse_conflict(const struct kind *kind, const char *name, const char *why)
{
    CLEANUP(freep) char *what = mem_printf("cannot be written: %s", why);

    return refuse_object(ERR_CONFLICT, "Conflict", kind, name, what);
}

struct err *refuse_invalid(const struct kind *kind, const char *name, const char *why)
{
    CLEANUP(freep) char *what = mem_printf("is invalid: %s", why);

    return refuse_object(ERR_INVALID, "Invalid", kind, name, what);
}

struct err *refuse_misfit(const struct kind *kind, const char *name, const char *why)
{
    return refuse_object(ERR_INVALID, "BadRequest", kind, name, why);
}
