/* What the list says of the messages as they are compiled in; test/api compares the list itself
 * with the specification. */
#include "lib/api/csi_secrets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"

static const ProtobufCServiceDescriptor *const services[] = {
    &csi__v1__identity__descriptor,
    &csi__v1__controller__descriptor,
    &csi__v1__group_controller__descriptor,
    &csi__v1__snapshot_metadata__descriptor,
    &csi__v1__node__descriptor,
};

/* Every field called "secrets", and no other, of every request. */
static void test_requests(void **state)
{
    unsigned n_secret = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(services); i++)
        for (unsigned m = 0; m < services[i]->n_methods; m++) {
            const ProtobufCMessageDescriptor *request = services[i]->methods[m].input;

            for (unsigned f = 0; f < request->n_fields; f++) {
                bool is_secret = csi_field_is_secret(request, &request->fields[f]);

                n_secret += is_secret;
                if (is_secret != (strcmp(request->fields[f].name, "secrets") == 0))
                    fail_msg("%s.%s", request->name, request->fields[f].name);
            }
        }
    assert_int_equal(n_secret, 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
