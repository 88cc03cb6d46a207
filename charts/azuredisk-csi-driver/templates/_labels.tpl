{{/*
Labels of the chart's objects.
*/}}

{{/* -> by which azdiskctl finds the driver's pods and Deployments: no value changes it. */}}
{{- define "azuredisk.fixedLabel" -}}
app.kubernetes.io/part-of: azuredisk-csi-driver
{{- end }}

{{- define "azuredisk.labels" -}}
{{ include "azuredisk.fixedLabel" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{/* (dict "root" $ "own" dict "labels" dict) -> the labels that the user wants, and the chart's; those that are looked for, own and the fixed one, as they are. */}}
{{- define "azuredisk.labelsWith" -}}
{{- merge (include "azuredisk.fixedLabel" .root | fromYaml) (default dict .own) (default dict .labels) (include "azuredisk.labels" .root | fromYaml) | toYaml -}}
{{- end }}

{{/* -> annotations of what stays when the chart no longer has it: Helm's own, which Argo CD takes for Delete=false only. */}}
{{- define "azuredisk.kept" -}}
helm.sh/resource-policy: keep
argocd.argoproj.io/sync-options: Delete=false,Prune=false
{{- end }}
