{{/*
Labels of the chart's objects.
*/}}

{{- define "azuredisk.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{/* (dict "root" $ "own" dict "labels" dict) -> the labels that the user wants, and the chart's; those that are looked for, own, as they are. */}}
{{- define "azuredisk.labelsWith" -}}
{{- merge (dict) (default dict .own) (default dict .labels) (include "azuredisk.labels" .root | fromYaml) | toYaml -}}
{{- end }}
