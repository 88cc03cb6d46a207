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
