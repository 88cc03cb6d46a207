#include "controller/user_agent.h"

#include "lib/base/alloc.h"

char *user_agent_for_azure(const struct flags *flags, const char *configured, const char *own)
{
    const char *agent = configured ? configured : own;

    if (flags->user_agent[0])
        agent = flags->user_agent;
    if (!flags->user_agent_suffix[0])
        return mem_strdup(agent);
    return mem_printf("%s %s", agent, flags->user_agent_suffix);
}
