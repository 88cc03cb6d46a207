{{/*
Which images pods run, and how they are pulled.
*/}}

{{/* -> image.baseRepo, which comes before repositories that begin with "/". Without one, pods would look for their images elsewhere; only that of Microsoft's charts is let through, as their values have it. */}}
{{- define "azuredisk.baseRepo" -}}
{{- $base := .Values.image.baseRepo -}}
{{- $used := list "" "mcr.microsoft.com" | has $base -}}
{{- range omit .Values.image "baseRepo" }}{{ if hasPrefix "/" (default "" .repository) }}{{ $used = true }}{{ end }}{{ end -}}
{{- if not $used }}
{{- fail (printf "image.baseRepo: %s has no effect: it comes before repositories that begin with \"/\", and none does; set image.azuredisk.repository, image.csiProvisioner.repository and the others, such as /sig-storage/csi-provisioner" $base) }}
{{- end -}}
{{- $base -}}
{{- end }}

{{/* (dict "root" $ "image" .Values.image.x) -> repository:tag, or repository@digest */}}
{{- define "azuredisk.image" -}}
{{- $prefix := ternary (include "azuredisk.baseRepo" .root) "" (hasPrefix "/" .image.repository) -}}
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
