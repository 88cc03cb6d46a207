/* Certificates and keys from Secrets. */
#include "lib/http/certificates.h"
#include "test/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(freep) char *pem = input_text(data, size);
    bool certificate = input_taken(certificates_check(pem));
    bool pair = input_taken(certificates_check_pair(pem, pem));

    MUST(certificate || !pair);
    return 0;
}
