{{/*
How the pods of a Deployment are replaced and evicted.
*/}}

{{/* Updates need no more room than there was, so that they end on one node, too, and whatever keeps two pods from sharing one. */}}
{{- define "azuredisk.strategy" -}}
strategy:
  type: RollingUpdate
  rollingUpdate: {maxSurge: 0, maxUnavailable: 1}
{{- end }}

{{/* (dict "root" $ "name" ... "enabled" bool) -> drains take the pods of a Deployment one by one, and each has to be ready elsewhere before the next. */}}
{{- define "azuredisk.budget" -}}
{{- if .enabled -}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "azuredisk.labels" .root | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      app: {{ .name }}
{{- end }}
{{- end }}
