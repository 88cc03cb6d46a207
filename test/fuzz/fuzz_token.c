/* What Entra ID and the instance metadata service answer who asks for a token. The first line is
 * "entra" or the identity that is asked for at the metadata service. */
#include "lib/base/secret.h"
#include "provisioner-lib/azure/token_request.h"
#include "test/fuzz/answers.h"

enum { LONGEST_MS = 10 * 60 * 1000 };

struct asking {
    struct azure_config config;
    struct answers answers;
};

static void ask(struct task *self, void *arg)
{
    struct asking *asking = arg;
    struct http_transport *transport = &asking->answers.transport;
    struct token_source source = {
        .config = &asking->config, .entra = transport, .metadata = transport};
    struct token token;

    if (!input_taken(token_request(self, &source, NULL, &token)))
        return;
    MUST(strncmp(token.authorization, "Bearer ", 7) == 0);
    MUST(token.renew_ms <= token.lasts_ms);
    secret_free(token.authorization);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char word[] = "x", url[] = "https://login.example";
    CLEANUP(freep) char *text = input_text(data, size);
    char *rest = text, *identity = strsep(&rest, "\n");
    struct loop *loop = loop_new_virtual(1);
    struct asking asking = {.config = {.tenant = word,
                                       .client_id = word,
                                       .client_secret = word,
                                       .authority = url,
                                       .audience = url,
                                       .user_assigned = identity,
                                       .identity = strcmp(identity, "entra") == 0
                                                       ? AZURE_CLIENT_SECRET
                                                       : AZURE_MANAGED_IDENTITY}};

    answers_init(&asking.answers, rest ? rest : "");
    MUST(task_returns(loop, ask, &asking, LONGEST_MS));
    answers_fini(&asking.answers);
    loop_free(loop);
    return 0;
}
