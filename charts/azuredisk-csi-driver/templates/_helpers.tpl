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

{{/* Updates need no more room than there was, so that they end on one node, too, and whatever keeps two pods from sharing one. */}}
{{- define "azuredisk.strategy" -}}
strategy:
  type: RollingUpdate
  rollingUpdate: {maxSurge: 0, maxUnavailable: 1}
{{- end }}

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

{{/* -> not empty: nodes are kept to their own objects. ValidatingAdmissionPolicy is in every API server from 1.30 on. */}}
{{- define "azuredisk.nodePolicy" -}}
{{- $served := .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy" -}}
{{- if and .Values.rbac.restrictNodes (or $served (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version)) }}yes{{ end -}}
{{- end }}

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
