{{/*
How pods come to nodes that have a replica of their disk: placement.mode.
*/}}

{{/* -> not empty: the scheduler extender is installed. */}}
{{- define "azuredisk.extender" -}}
{{- if and .Values.schedulerExtender.enabled (ne .Values.placement.mode "none") }}yes{{ end -}}
{{- end }}

{{/* -> not empty: the API server calls its webhook. */}}
{{- define "azuredisk.placementWebhook" -}}
{{- $mode := .Values.placement.mode -}}
{{- if has $mode (list "nominate" "webhook") }}
{{- if not .Values.schedulerExtender.enabled }}
{{- fail (printf "placement.mode: %s requires schedulerExtender.enabled: the scheduler extender serves the webhook" $mode) }}
{{- end -}}
yes{{ end -}}
{{- end }}

{{/* -> the namespaces whose pods the webhook leaves as they are, as JSON. */}}
{{- define "azuredisk.placementExcluded" -}}
{{- $names := include "azuredisk.names" . | fromJson -}}
{{- concat (list "kube-system" .Release.Namespace $names.objects) .Values.placement.excludedNamespaces | uniq | toJson -}}
{{- end }}

{{/* -> the Secret with the webhook's certificate. */}}
{{- define "azuredisk.placementSecret" -}}
{{- $names := include "azuredisk.names" . | fromJson -}}
{{- .Values.placement.tls.secretName | default (printf "%s-placement" $names.extender | trunc 253) -}}
{{- end }}

{{/* -> not empty: the controller's leader makes the webhook's certificate. */}}
{{- define "azuredisk.placementCertificate" -}}
{{- $tls := .Values.placement.tls -}}
{{- if and (include "azuredisk.placementWebhook" .) (not $tls.secretName) (not $tls.issuerName) }}yes{{ end -}}
{{- end }}

{{/* -> the MutatingWebhookConfiguration. */}}
{{- define "azuredisk.placementWebhookName" -}}
{{- printf "%s-placement" (include "azuredisk.names" . | fromJson).roles -}}
{{- end }}
