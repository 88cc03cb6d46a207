#include "azdiskctl/commands/selected.h"

#include "azdiskctl/printable.h"

struct err *selected_read(struct task *self, const struct program *program, unsigned parts,
                          struct selection *ret_selection, struct cluster *ret)
{
    const struct flags *flags = &program->flags;
    struct cluster_query query = query_for(program, parts);

    TRY(selection_parse(flags->subject, flags->names, flags->n_names,
                        flags->namespace_[0] && !flags->pod[0] ? flags->namespace_ : NULL,
                        ret_selection));
    return cluster_read(self, program->session.connection.kube, &query, ret);
}

void selected_complain(const json_t *document)
{
    CLEANUP(json_decrefp) json_t *printable = printable_json(document);
    CLEANUP(buffer_fini) struct buffer text;

    buffer_init(&text, 1 << 20);
    missing_text(printable, &text);
    if (text.length)
        fputs(text.data, stderr);
}
