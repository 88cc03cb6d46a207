{{/*
Pods of Helm's hooks, which run azdiskctl.
*/}}

{{/* (dict "root" $ "account" ... "args" list "resources" dict "plan" name) -> the spec; with the ConfigMap of that name at /etc/azuredisk, if there is one. */}}
{{- define "azuredisk.checkPod" -}}
{{- $c := .root.Values.controller -}}
{{- include "azuredisk.pullSecrets" .root }}
serviceAccountName: {{ .account }}
restartPolicy: Never
{{ include "azuredisk.podSecurity" 65532 }}
nodeSelector:
  {{- include "azuredisk.nodeSelector" $c.nodeSelector | nindent 2 }}
tolerations:
  {{- toYaml $c.tolerations | nindent 2 }}
containers:
  - name: azdiskctl
    image: {{ include "azuredisk.driverImage" .root }}
    imagePullPolicy: {{ .root.Values.image.azuredisk.pullPolicy }}
    command: [/bin/azdiskctl]
    args:
      {{- toYaml .args | nindent 6 }}
    {{- include "azuredisk.containerSecurity" .root | nindent 4 }}
    resources:
      {{- toYaml .resources | nindent 6 }}
    {{- if .plan }}
    volumeMounts:
      - {name: plan, mountPath: /etc/azuredisk, readOnly: true}
    {{- end }}
{{- with .plan }}
volumes:
  - name: plan
    configMap: {name: {{ . }}}
{{- end }}
{{- end }}

{{/* (dict "root" $ "app" ...) -> labels and annotations of such a pod. */}}
{{- define "azuredisk.checkPodMetadata" -}}
{{- $c := .root.Values.controller -}}
labels:
  {{- include "azuredisk.labelsWith" (dict "root" .root "own" (dict "app" .app) "labels" $c.podLabels) | nindent 2 }}
{{- with $c.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* (dict "root" $ "name" ... "hook" events "pod" what checkPod takes) -> the Job. Helm waits five minutes. What has failed stays, with its log, until the next attempt. */}}
{{- define "azuredisk.checkJob" -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "azuredisk.labels" .root | nindent 4 }}
  annotations:
    {{- include "azuredisk.hook" .hook | nindent 4 }}
spec:
  backoffLimit: 0
  activeDeadlineSeconds: 240
  template:
    metadata:
      {{- include "azuredisk.checkPodMetadata" (dict "root" .root "app" .name) | nindent 6 }}
    spec:
      {{- include "azuredisk.checkPod" .pod | nindent 6 }}
{{- end }}

{{/* (dict "root" $ "account" ... "role" ... "rules" list "hook" events) -> an account of the Job's own, and what it may do, as long as the hook runs. */}}
{{- define "azuredisk.checkAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .account }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "azuredisk.labels" .root | nindent 4 }}
  annotations:
    {{- include "azuredisk.hookBefore" .hook | nindent 4 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .role }}
  labels:
    {{- include "azuredisk.labels" .root | nindent 4 }}
  annotations:
    {{- include "azuredisk.hookBefore" .hook | nindent 4 }}
rules:
  {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .role }}
  labels:
    {{- include "azuredisk.labels" .root | nindent 4 }}
  annotations:
    {{- include "azuredisk.hookBefore" .hook | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .role }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{/* (events) -> annotations of what is there for them only. */}}
{{- define "azuredisk.hook" -}}
helm.sh/hook: {{ . }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* (events) -> the same of what a Job needs: Helm makes hooks of one weight in the order of their names. */}}
{{- define "azuredisk.hookBefore" -}}
{{ include "azuredisk.hook" . }}
helm.sh/hook-weight: "-1"
{{- end }}
