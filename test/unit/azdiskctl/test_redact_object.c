/* Objects of the API server without the secrets in them. */
#include "azdiskctl/redact_object.h"

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/object.h"

static const struct {
    const char *object, *redacted; /* with ' for " */
} rows[] = {
    {"{'spec':{'containers':[{'env':[{'name':'A','value':'x1'},{'name':'B','valueFrom':{"
     "'secretKeyRef':{'name':'team','key':'password'}}}],'envFrom':[{'secretRef':{'name':'s'}}]}]}"
     "}",
     "{'spec':{'containers':[{'env':[{'name':'A','value':'(removed)'},{'name':'B','valueFrom':{"
     "'secretKeyRef':{'name':'team','key':'password'}}}],'envFrom':[{'secretRef':{'name':'s'}}]}]}"
     "}"},
    {"{'metadata':{'name':'a','annotations':{'kubectl.kubernetes.io/last-applied-configuration':"
     "'{}','b':'password=x1','c/token':'x1'},'managedFields':[{'manager':'x1'}]}}",
     "{'metadata':{'name':'a','annotations':{'kubectl.kubernetes.io/last-applied-configuration':"
     "'(removed)','b':'password=(removed)','c/token':'(removed)'}}}"},
    /* References to Secrets are names. */
    {"{'spec':{'csi':{'nodePublishSecretRef':{'name':'a','namespace':'b'},'volumeAttributes':{"
     "'csi.storage.k8s.io/node-stage-secret-name':'c'}}}}",
     "{'spec':{'csi':{'nodePublishSecretRef':{'name':'a','namespace':'b'},'volumeAttributes':{"
     "'csi.storage.k8s.io/node-stage-secret-name':'c'}}}}"},
    {"{'volumes':[{'secret':{'secretName':'a','defaultMode':420}}],'imagePullSecrets':[{'name':'b'"
     "}],'automountServiceAccountToken':false,'token':null}",
     "{'volumes':[{'secret':{'secretName':'a','defaultMode':420}}],'imagePullSecrets':[{'name':'b'"
     "}],'automountServiceAccountToken':false,'token':null}"},
    /* Whatever has such a name. */
    {"{'parameters':{'clientSecret':'x1','pins':[{'password':1234}],'tokens':['x1',['x2']]}}",
     "{'parameters':{'clientSecret':'(removed)','pins':[{'password':'(removed)'}],'tokens':["
     "'(removed)',['(removed)']]}}"},
    {"{'args':['--v=5','--client-secret','x1','--password=x1','-token','x2','-v']}",
     "{'args':['--v=5','--client-secret','(removed)','--password=(removed)','-token','(removed)',"
     "'-v']}"},
    {"{'a':{'password=x1':'b'}}", "{'a':{'password=(removed)':'b'}}"},
    {"{'status':{'conditions':[{'type':'Ready','message':'Bearer x1'}],'n':1.5}}",
     "{'status':{'conditions':[{'type':'Ready','message':'Bearer (removed)'}],'n':1.5}}"},
};

static void test_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *object = json_of(rows[i].object);
        CLEANUP(json_decrefp) json_t *before = json_deep_copy(object);
        CLEANUP(json_decrefp) json_t *redacted = redact_object(object);
        CLEANUP(json_decrefp) json_t *expected = json_of(rows[i].redacted);
        CLEANUP(freep) char *text = json_to_text(redacted), *want = json_to_text(expected);

        assert_string_equal(text, want);
        assert_true(json_equal(object, before));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
