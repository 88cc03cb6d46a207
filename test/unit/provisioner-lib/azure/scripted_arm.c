#include "test/unit/provisioner-lib/azure/scripted_arm.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/list.h"

static struct line *find_line(struct scripted_arm *scripted, const char *url)
{
    for (struct line *line = scripted->script; line->text; line++)
        if (strstr(url, line->text) && line->times >= 0)
            return line;
    fail_msg("no line of the script is for %s", url);
    return NULL;
}

static void answer(const struct line *line, struct http_response *ret)
{
    *ret = (struct http_response){.status = line->status,
                                  .body = mem_strdup(line->body ? line->body : "")};
    ret->body_length = strlen(ret->body);
    ret->headers = mem_alloc(COUNT_OF(line->headers) / 2 * sizeof *ret->headers);
    for (size_t i = 0; i < COUNT_OF(line->headers) && line->headers[i]; i += 2)
        ret->headers[ret->n_headers++] =
            (struct http_header){mem_strdup(line->headers[i]), mem_strdup(line->headers[i + 1])};
}

static void note(struct scripted_arm *scripted, const struct http_request *request)
{
    const char *if_match = http_header_find(request->headers, request->n_headers, "If-Match");

    assert_in_range(scripted->n_sent, 0, MOST_REQUESTS - 1);
    scripted->sent[scripted->n_sent++] =
        (struct sent){.at = loop_now(scripted->loop),
                      .method = mem_strdup(request->method),
                      .url = mem_strdup(request->url),
                      .if_match = mem_strdup(if_match),
                      .body = mem_strndup(request->body, request->body_length)};
}

/* Until the request's deadline at most. */
static struct err *wait_for_answer(struct task *self, const struct scripted_arm *scripted,
                                   const struct http_request *request)
{
    uint64_t now = loop_now(scripted->loop);
    uint64_t left = request->deadline > now ? request->deadline - now : 0;

    if (scripted->answer_ms <= left)
        return task_sleep(self, scripted->answer_ms);
    TRY(task_sleep(self, left));
    return err_new(ERR_TIMEOUT, "no answer");
}

static struct err *answer_by_script(struct task *self, struct scripted_arm *scripted,
                                    const struct http_request *request, struct http_response *ret)
{
    static const struct line token = {.status = 200,
                                      .body = "{\"access_token\": \"t\", \"expires_in\": 86000}"};
    bool is_token = strstr(request->url, "oauth2");

    if (scripted->connect_ms > 0)
        TRY(task_sleep(self, scripted->connect_ms));
    if (request->may_send && !request->may_send(request->may_send_ctx))
        return err_new(ERR_CANCELED, "not sent");
    struct line *line = is_token ? NULL : find_line(scripted, request->url);
    scripted->n_tokens += is_token;
    if (line) {
        note(scripted, request);
        if (line->times > 0 && --line->times == 0)
            line->times = -1;
    }
    TRY(wait_for_answer(self, scripted, request));
    answer(line ? line : &token, ret);
    return NULL;
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct scripted_arm *scripted = CONTAINER_OF(transport, struct scripted_arm, transport);

    if (!request->urgent)
        TRY(semaphore_take(self, &scripted->connections, request->deadline));
    struct err *err = answer_by_script(self, scripted, request, ret);
    if (!request->urgent)
        semaphore_give(&scripted->connections);
    return err;
}

struct scripted_arm *scripted_arm_new(const char *cloud, const struct line *script)
{
    struct scripted_arm *scripted = mem_alloc(sizeof *scripted);
    CLEANUP(freep)
    char *text =
        mem_printf("{tenantId: t, subscriptionId: s, resourceGroup: rg, location: l, "
                   "aadClientId: c, aadClientSecret: x, resourceManagerEndpoint: '" HOME "'%s}",
                   cloud);

    *scripted = (struct scripted_arm){.transport = {.exchange = exchange}};
    for (size_t i = 0; script[i].text; i++)
        scripted->script[i] = script[i];
    scripted->loop = loop_new_virtual(1);
    scripted->answer_ms = 100;
    semaphore_init(&scripted->connections, CONNECTIONS);
    group_init(&scripted->group, scripted->loop);
    assert_ok(azure_config_parse(text, strlen(text), &scripted->config));
    scripted->credential = credential_new(&scripted->group, &scripted->config, &scripted->transport,
                                          &scripted->transport);
    scripted->arm = arm_client_new(scripted->loop, &scripted->config, &scripted->transport,
                                   scripted->credential);
    return scripted;
}

static void close_group(struct task *self, void *arg)
{
    struct scripted_arm *scripted = arg;

    group_close(self, &scripted->group);
}

void scripted_arm_free(struct scripted_arm *scripted)
{
    loop_spawn(scripted->loop, "close", close_group, scripted);
    loop_advance(scripted->loop, 1000);
    for (size_t i = 0; i < scripted->n_sent; i++) {
        free(scripted->sent[i].method);
        free(scripted->sent[i].url);
        free(scripted->sent[i].if_match);
        free(scripted->sent[i].body);
    }
    arm_client_free(scripted->arm);
    credential_free(scripted->credential);
    azure_config_fini(&scripted->config);
    loop_free(scripted->loop);
    free(scripted);
}

static struct err *perform(struct task *self, const struct asking *asking)
{
    struct arm_client *arm = asking->scripted->arm;
    CLEANUP(arm_operation_fini) struct arm_operation operation = {0};

    TRY(arm_client_request(self, arm, &asking->request, NULL, &operation));
    return arm_operation_wait(self, arm, &operation);
}

static void run(struct task *self, void *arg)
{
    struct asking *asking = arg;

    asking->err = perform(self, asking);
    asking->ended = true;
}

void asking_begin(struct scripted_arm *scripted, struct asking *asking)
{
    asking->scripted = scripted;
    loop_spawn(scripted->loop, "asking", run, asking);
}

struct err *asking_end(struct asking *asking, uint64_t ms)
{
    loop_advance(asking->scripted->loop, ms);
    assert_true(asking->ended);
    return asking->err;
}
