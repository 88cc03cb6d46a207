/* parameters_template.h - the last step of volume_parameters_parse(). */
#pragma once

#include "provisioner-lib/parameters.h"

/* Makes tags of `tags_text`, and replaces the templates in these and in `disk_name`. */
struct err *volume_parameters_expand(struct volume_parameters *parameters)
    __attribute__((warn_unused_result));
