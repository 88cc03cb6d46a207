{{/*
How kubelet asks for the health of a container.
*/}}

{{/* (dict "port" ... "local" bool) -> kubelet asks the pod's address; or the node's own, which nobody on the network reaches, for pods in its network. */}}
{{- define "azuredisk.probes" -}}
{{- $host := ternary "host: 127.0.0.1, " "" .local -}}
livenessProbe:
  httpGet: { {{- $host }}path: /healthz, port: {{ .port }}}
  initialDelaySeconds: 10
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 5
readinessProbe:
  httpGet: { {{- $host }}path: /readyz, port: {{ .port }}}
  periodSeconds: 2
  timeoutSeconds: 2
{{- end }}

{{/* -> kubelet has the address, a socket of the pod's own, asked: two pods in the network of one node have no port to themselves. */}}
{{- define "azuredisk.execProbes" -}}
livenessProbe:
  exec: {command: [/bin/azdisk-probe, --address={{ . }}, --path=/healthz]}
  initialDelaySeconds: 10
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 5
readinessProbe:
  exec: {command: [/bin/azdisk-probe, --address={{ . }}, --path=/readyz]}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}
