"""Mutants of how the driver proves to Azure who it is: its tokens, its secrets, and where it sends them."""

from .mutant import Mutant

AZURE = "provisioner-lib/azure/"

CREDENTIAL_MUTANTS = [
    Mutant("a token is used beyond its end", AZURE + "credential.c",
           "return credential->authorization && now_of(credential) < credential->expires;",
           "return credential->authorization != NULL;"),
    Mutant("a new token is dropped because the old one was refused", AZURE + "credential.c",
           "if (!credential->authorization || strcmp(authorization, credential->authorization) != 0)",
           "if (!credential->authorization || !authorization)"),
    Mutant("Entra ID is asked again before its Retry-After", AZURE + "credential.c",
           "    if (err_retry_after_ms(err) > rest)\n        rest = err_retry_after_ms(err);\n", ""),
    Mutant("a token that has ended already is taken", AZURE + "token_request.c",
           "    if (lasts == 0)\n", "    if (lasts == 0 && length == 0)\n", "credential"),
    Mutant("claims are nested without end", AZURE + "token_request.c",
           "        err_free(json_parse(self, demanded, strlen(demanded), &more));\n",
           "        more = json_loads(demanded, 0, NULL);\n", "credential"),
    Mutant("claims are as long as their challenge", AZURE + "credential.c",
           "return length <= LONGEST_CLAIMS ? ", "return length > 0 ? "),
    Mutant("Entra ID is asked without a pause", AZURE + "credential.c",
           "now < credential->renew || now < credential->rest)", "now < credential->renew)"),
    Mutant("the key of a certificate stays in memory after its use", AZURE + "client_assertion.c",
           "    explicit_bzero(text, length);\n", "", "secrets"),
    Mutant("the first certificate of a file is taken for the key's", AZURE + "client_assertion.c",
           "if (!certificate->own && X509_check_private_key(found, certificate->key) == 1)",
           "if (!certificate->own)", "identities"),
    Mutant("an assertion holds for ever", AZURE + "client_assertion.c",
           "(json_int_t)assertion->now_s + LASTS_S)", "(json_int_t)INT32_MAX + LASTS_S)", "identities"),
    Mutant("secrets are sent to an end point without TLS", AZURE + "cloud_endpoints.c",
           'if (strncmp(url, scheme, strlen(scheme)) != 0)', 'if (strncmp(url, scheme, 4) != 0)', "config"),
    Mutant("the secret of a sovereign cloud goes to the public one", AZURE + "cloud_endpoints.c",
           '{"AzureChinaCloud", "https://management.chinacloudapi.cn", "https://login.chinacloudapi.cn"}',
           '{"AzureChinaCloud", "https://management.chinacloudapi.cn", "https://login.microsoftonline.com"}',
           "config"),
    Mutant("a cloud's answer takes the place of a configured end point", AZURE + "cloud_endpoints.c",
           "    if (*target || !url || !*url)\n        return NULL;\n",
           "    if (!url || !*url)\n        return NULL;\n    free(*target);\n", "config"),
]
