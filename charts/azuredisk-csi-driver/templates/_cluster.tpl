{{/*
What depends on what the cluster has.
*/}}

{{/* -> not empty: nodes are kept to their own objects. ValidatingAdmissionPolicy is in every API server from 1.30 on. */}}
{{- define "azuredisk.nodePolicy" -}}
{{- $served := .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy" -}}
{{- if and .Values.rbac.restrictNodes (or $served (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version)) }}yes{{ end -}}
{{- end }}

{{/* "true" if VolumeSnapshots can be served: without their definitions, csi-snapshotter ends again and again. */}}
{{- define "azuredisk.snapshots" -}}
{{- if or .Values.snapshot.enabled (.Capabilities.APIVersions.Has "snapshot.storage.k8s.io/v1") }}true{{ end -}}
{{- end }}

{{/* (duration) -> a moment that is as long after another one, which sorts as text. */}}
{{- define "azuredisk.duration" -}}
{{- toDate "2006-01-02" "2000-01-01" | dateModify . | date "2006-01-02T15:04:05.000" -}}
{{- end }}
