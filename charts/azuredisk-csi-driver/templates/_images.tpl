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

{{/* -> the image of this chart's programs */}}
{{- define "azuredisk.driverImage" -}}
{{- include "azuredisk.image" (dict "root" . "image" .Values.image.azuredisk) -}}
{{- end }}

{{- define "azuredisk.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ if kindIs "string" . }}{{ . }}{{ else }}{{ .name }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
