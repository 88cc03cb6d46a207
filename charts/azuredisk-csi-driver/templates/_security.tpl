{{/*
What pods and containers may do to their node.
*/}}

{{/* (the user's id) -> the pod's. All containers have the same user, because a Unix socket is its maker's alone; only files of the node need root. */}}
{{- define "azuredisk.podSecurity" -}}
securityContext:
  runAsNonRoot: {{ ne (int .) 0 }}
  runAsUser: {{ . }}
  runAsGroup: {{ . }}
  fsGroup: {{ . }}
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "azuredisk.containerSecurity" -}}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
{{- end }}
