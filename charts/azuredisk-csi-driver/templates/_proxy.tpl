{{/*
-> environment variables by which the controller calls Azure through a proxy. libcurl reads http_proxy in small letters only.
The API server, which has an address of its own in the cluster, is never called through it.
*/}}
{{- define "azuredisk.proxy" -}}
{{- $d := .Values.driver }}
{{- with $d.httpsProxy }}
- {name: HTTPS_PROXY, value: {{ . | quote }}}
{{- end }}
{{- with $d.httpProxy }}
- {name: http_proxy, value: {{ . | quote }}}
{{- end }}
{{- if or $d.httpsProxy $d.httpProxy $d.noProxy }}
- {name: NO_PROXY, value: {{ list "$(KUBERNETES_SERVICE_HOST)" $d.noProxy | compact | join "," | quote }}}
{{- end }}
{{- end }}
