{{/*
Which images pods run, and how they are pulled.
*/}}

{{/* (dict "root" $ "image" .Values.image.x) -> repository:tag, or repository@digest */}}
{{- define "azuredisk.image" -}}
{{- $prefix := ternary .root.Values.image.baseRepo "" (hasPrefix "/" .image.repository) -}}
{{- $version := printf ":%s" (default .root.Chart.AppVersion .image.tag) -}}
{{- with .image.digest }}{{ $version = printf "@%s" . }}{{ end -}}
{{- printf "%s%s%s" $prefix .image.repository $version -}}
{{- end }}

{{/* -> not empty: image.azuredisk is one of Microsoft's, which are other programs. */}}
{{- define "azuredisk.microsoftImage" -}}
{{- regexFind `^(mcr\.[a-z0-9.]+)?/(k8s/csi|oss/(v2/)?kubernetes-csi)/azuredisk-csi$` .Values.image.azuredisk.repository -}}
{{- end }}

{{/* -> the image of this chart's programs */}}
{{- define "azuredisk.driverImage" -}}
{{- $image := .Values.image.azuredisk -}}
{{- if include "azuredisk.microsoftImage" . }}{{ $image = dict "repository" "azuredisk-csi" }}{{ end -}}
{{- include "azuredisk.image" (dict "root" . "image" $image) -}}
{{- end }}

{{- define "azuredisk.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ if kindIs "string" . }}{{ . }}{{ else }}{{ .name }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
