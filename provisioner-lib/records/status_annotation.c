#include "provisioner-lib/records/status_annotation.h"

json_t *status_annotation_json(const char *name, const char *value)
{
    return json_pack("{s:{s:{s:s?}}}", "status", "annotation", name, value);
}
