#include "test/unit/provisioner-lib/azure/login.h"

#include <stdlib.h>

/* ---- the login ---- */

static void answer_as_scripted(const struct scripted *script, struct http_response *ret)
{
    const char *body = script->body ? script->body : "";

    *ret = (struct http_response){.status = script->status,
                                  .headers = mem_alloc(sizeof *ret->headers),
                                  .body = mem_strdup(body),
                                  .body_length = strlen(body)};
    if (script->header)
        ret->headers[ret->n_headers++] =
            (struct http_header){mem_strdup(script->header), mem_strdup(script->value)};
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct login *login = CONTAINER_OF(transport, struct login, transport);
    struct http_transport *azure = arm_transport_http(login->azure->transport);

    login->asked++;
    free(login->last_form);
    login->last_form = mem_strdup(request->body ? request->body : request->url);
    if (login->fault)
        return err_new(ERR_UNAVAILABLE, "%s", login->fault);
    if (login->times == 0)
        return http_exchange(self, azure, request, ret);
    login->times--;
    TRY(task_sleep(self, 50)); /* as an answer takes its time */
    answer_as_scripted(&login->script, ret);
    return NULL;
}

struct login *login_new(const char *yaml, const struct key_pair *own,
                        const struct key_pair *cluster)
{
    static const struct arm_identity identity = {"one", CLIENT_OF_ONE, OBJECT_OF_ONE, NULL, 0};
    const char *certificate = own ? own->certificate_pem : NULL;
    struct arm_federation federation = {.issuer = ISSUER,
                                        .subject = WORKLOAD,
                                        .audience = AUDIENCE,
                                        .key = cluster ? cluster->public_pem : NULL};
    struct login *login = mem_alloc(sizeof *login);

    login->certificate = mem_copy(&certificate, sizeof certificate);
    login->federation = mem_copy(&federation, sizeof federation);
    login->client = (struct arm_client){.id = CLIENT,
                                        .secret = "s3cr+t&=",
                                        .certificates = login->certificate,
                                        .n_certificates = own ? 1 : 0,
                                        .federations = login->federation,
                                        .n_federations = cluster ? 1 : 0};
    login->azure = azure_new(&(struct arm_config){
        .clients = &login->client, .n_clients = 1, .identities = &identity, .n_identities = 1});
    login->transport = (struct http_transport){.exchange = exchange};
    assert_ok(azure_config_parse(yaml, strlen(yaml), &login->config));
    group_init(&login->group, login->azure->loop);
    login->credential =
        credential_new(&login->group, &login->config, &login->transport, &login->transport);
    return login;
}

static void close_group(struct task *self, void *arg)
{
    group_close(self, arg);
}

void login_close(struct login *login)
{
    loop_spawn(login->azure->loop, "close", close_group, &login->group);
    loop_advance(login->azure->loop, 0);
}

void login_free(struct login *login)
{
    login_close(login);
    credential_free(login->credential);
    azure_config_fini(&login->config);
    azure_free(login->azure);
    free(login->certificate);
    free(login->federation);
    free(login->last_form);
    free(login);
}

/* ---- who needs a token ---- */

static void run_need(struct task *self, void *arg)
{
    struct need *need = arg;

    need->err = credential_get(self, need->login->credential, &need->authorization);
    need->ended = true;
}

void need_begin(struct login *login, struct need *need)
{
    *need = (struct need){.login = login};
    need->task = loop_spawn(login->azure->loop, "need", run_need, need);
}

void need_fini(struct need *need)
{
    secret_free(need->authorization);
    err_free(need->err);
}

struct need need_token(struct login *login, uint64_t within_ms)
{
    struct need need;

    need_begin(login, &need);
    for (uint64_t ms = 0; ms <= within_ms && !need.ended; ms += 50)
        loop_advance(login->azure->loop, ms ? 50 : 0);
    assert_true(need.ended);
    return need;
}

void expect_token(struct login *login)
{
    CLEANUP(need_fini) struct need need = need_token(login, 1000);

    assert_ok(TAKE_PTR(need.err));
    free(login->azure->token);
    login->azure->token = mem_strdup(need.authorization + strlen("Bearer "));
    json_decref(ask_json(login->azure, "GET", "{P}/disks", NULL, 200));
}

void expect_failure(struct login *login, uint64_t within_ms, enum err_kind kind, const char *code,
                    const char *words)
{
    CLEANUP(need_fini) struct need need = need_token(login, within_ms);

    assert_non_null(need.err);
    if (err_kind(need.err) != kind || !strstr(err_message(need.err), words))
        fail_msg("%s: %s", err_kind_reason(err_kind(need.err)), err_message(need.err));
    assert_string_equal(err_code(need.err) ? err_code(need.err) : "", code);
    assert_null(strstr(err_message(need.err), "s3cr"));
    assert_null(strstr(err_message(need.err), "Trace ID"));
}

void login_advance_minutes(struct login *login, unsigned minutes)
{
    loop_advance(login->azure->loop, minutes * 60000ULL);
}
