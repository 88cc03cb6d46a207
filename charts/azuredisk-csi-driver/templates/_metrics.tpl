{{/*
Metrics over TLS: metrics.tls.
*/}}

{{/* -> the Secret with the certificate of all programs; empty: plain HTTP. */}}
{{- define "azuredisk.metricsSecret" -}}
{{- $tls := .Values.metrics.tls -}}
{{- $secret := $tls.secretName -}}
{{- if $tls.issuerName }}{{ $secret = $tls.secretName | default (include "azuredisk.names" . | fromJson).metrics }}{{ end -}}
{{- if and $tls.clientCASecretName (not $secret) }}
{{- fail "metrics.tls.clientCASecretName requires metrics.tls.secretName or metrics.tls.issuerName: clients present certificates only with TLS" }}
{{- end -}}
{{- if and $tls.clientSecretName (not $tls.clientCASecretName) }}
{{- fail "metrics.tls.clientSecretName requires metrics.tls.clientCASecretName: without an authority of clients, nobody asks for their certificates" }}
{{- end -}}
{{- $secret -}}
{{- end }}

{{/* -> the name in that certificate: one for all pods, since Prometheus calls each by its address. */}}
{{- define "azuredisk.metricsServerName" -}}
{{- $names := include "azuredisk.names" . | fromJson -}}
{{- .Values.metrics.tls.serverName | default (printf "%s.%s.svc" $names.metrics .Release.Namespace) -}}
{{- end }}

{{/* -> flags, as a list; empty without TLS, as the next two. */}}
{{- define "azuredisk.metricsArgs" -}}
{{- if include "azuredisk.metricsSecret" . -}}
- --metrics-tls-cert-file=/etc/azuredisk/metrics/tls.crt
- --metrics-tls-key-file=/etc/azuredisk/metrics/tls.key
{{- if .Values.metrics.tls.clientCASecretName }}
- --metrics-client-ca-file=/etc/azuredisk/metrics-client-ca/ca.crt
{{- end }}
{{- end }}
{{- end }}

{{- define "azuredisk.metricsMounts" -}}
{{- if include "azuredisk.metricsSecret" . -}}
- {name: metrics-tls, mountPath: /etc/azuredisk/metrics, readOnly: true}
{{- if .Values.metrics.tls.clientCASecretName }}
- {name: metrics-client-ca, mountPath: /etc/azuredisk/metrics-client-ca, readOnly: true}
{{- end }}
{{- end }}
{{- end }}

{{- define "azuredisk.metricsVolumes" -}}
{{- with include "azuredisk.metricsSecret" . -}}
- name: metrics-tls
  secret:
    secretName: {{ . }}
    items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]
{{- with $.Values.metrics.tls.clientCASecretName }}
- name: metrics-client-ca
  secret:
    secretName: {{ . }}
    items: [{key: ca.crt, path: ca.crt}]
{{- end }}
{{- end }}
{{- end }}

{{/* -> members of an end point of a ServiceMonitor or PodMonitor, which find Secrets in their own namespace. */}}
{{- define "azuredisk.metricsEndpoint" -}}
{{- $tls := .Values.metrics.tls -}}
{{- with include "azuredisk.metricsSecret" . -}}
{{- if and $tls.clientCASecretName (not $tls.clientSecretName) }}
{{- fail "metrics.tls.clientCASecretName requires metrics.tls.clientSecretName where there are monitors: a Secret with tls.crt and tls.key, which Prometheus presents. Without it, the programs answer nothing" }}
{{- end -}}
scheme: https
tlsConfig:
  serverName: {{ include "azuredisk.metricsServerName" $ }}
  ca: {secret: {name: {{ . }}, key: ca.crt}}
  {{- with $tls.clientSecretName }}
  cert: {secret: {name: {{ . }}, key: tls.crt}}
  keySecret: {name: {{ . }}, key: tls.key}
  {{- end }}
{{- end }}
{{- end }}
