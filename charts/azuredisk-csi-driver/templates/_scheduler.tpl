{{/*
How a kube-scheduler, the cluster's or the chart's own, is told of the extender; and the chart's own.
*/}}

{{/*
(dict "root" $ "schedulerName" ... "files" (dict "ca" ... "certificate" ... "key" ...)) -> kube-scheduler's configuration, with the
files on its machine.
*/}}
{{- define "azuredisk.schedulerConfiguration" -}}
{{- $names := include "azuredisk.names" .root | fromJson -}}
{{- $e := .root.Values.schedulerExtender -}}
{{- $service := printf "%s.%s.svc" $names.extender .root.Release.Namespace -}}
{{- $address := $e.clusterIP | default $service -}}
{{- if contains ":" $address }}{{ $address = printf "[%s]" $address }}{{ end -}}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: {{ .schedulerName }}
    percentageOfNodesToScore: 100
extenders:
  - urlPrefix: {{ ternary "https" "http" (ne $e.tls.secretName "") }}://{{ $address }}:{{ $e.servicePort }}
    filterVerb: filter
    prioritizeVerb: prioritize
    weight: {{ int $e.weight }}
    nodeCacheCapable: true
    ignorable: true
    httpTimeout: 2s
    {{- if $e.tls.secretName }}
    enableHTTPS: true
    tlsConfig:
      serverName: {{ $e.tls.serverName | default $service }}
      caFile: {{ .files.ca }}
      {{- if $e.tls.clientCASecretName }}
      certFile: {{ .files.certificate }}
      keyFile: {{ .files.key }}
      {{- end }}
    {{- end }}
{{- end }}

{{/* -> that of the chart's own, whose pods have their Secret at /etc/azuredisk/extender. */}}
{{- define "azuredisk.ownSchedulerConfiguration" -}}
{{- $name := (include "azuredisk.names" . | fromJson).schedulerName -}}
{{- $files := dict "ca" "/etc/azuredisk/extender/ca.crt" "certificate" "/etc/azuredisk/extender/tls.crt" "key" "/etc/azuredisk/extender/tls.key" -}}
{{ include "azuredisk.schedulerConfiguration" (dict "root" . "schedulerName" $name "files" $files) }}
clientConnection:
  qps: {{ int .Values.schedulerExtender.kubeApiQps }}
  burst: {{ int .Values.schedulerExtender.kubeApiBurst }}
leaderElection:
  leaderElect: true
  resourceName: {{ $name }}
  resourceNamespace: {{ .Release.Namespace }}
{{- end }}

{{/* -> not empty: the chart's own scheduler is installed. */}}
{{- define "azuredisk.scheduler" -}}
{{- $e := .Values.schedulerExtender -}}
{{- $p := .Values.placement -}}
{{- if $e.scheduler.enabled -}}
{{- $name := (include "azuredisk.names" . | fromJson).schedulerName -}}
{{- if not (include "azuredisk.extender" .) }}
{{- fail (printf "schedulerExtender.scheduler.enabled requires the scheduler extender, which this scheduler asks: schedulerExtender.enabled is %t and placement.mode is %s" $e.enabled $p.mode) }}
{{- end }}
{{- if and $e.tls.secretName (not $e.scheduler.tls.secretName) }}
{{- fail "schedulerExtender.scheduler.enabled with schedulerExtender.tls requires schedulerExtender.scheduler.tls.secretName: a Secret with ca.crt, which issued the extender's certificate, and with tls.crt and tls.key, with which the scheduler calls it" }}
{{- end }}
{{- if and $e.scheduler.tls.secretName (not $e.tls.secretName) }}
{{- fail "schedulerExtender.scheduler.tls.secretName requires schedulerExtender.tls.secretName: without a certificate of its own, the extender answers in plain HTTP" }}
{{- end }}
{{- if and (eq $p.mode "nominate") (not (has $name $p.schedulerNames)) }}
{{- fail (printf "placement.mode: nominate with schedulerExtender.scheduler.enabled requires %s in placement.schedulerNames: the mode says how pods come to their nodes, and those for this scheduler are among them" $name) }}
{{- end -}}
yes{{ end -}}
{{- end }}

{{/*
-> its image. One of another minor version than the API server's is refused, unless it is the one before: an update of the cluster
ends with the scheduler. No more of a version is looked at than its image is named by: not of AKS, GKE or K3s.
*/}}
{{- define "azuredisk.schedulerImage" -}}
{{- $image := .Values.image.kubeScheduler -}}
{{- $cluster := regexFind `^v?[0-9]+\.[0-9]+\.[0-9]+` .Capabilities.KubeVersion.Version -}}
{{- $tag := $image.tag | default (printf "v%s" (trimPrefix "v" $cluster)) -}}
{{- with regexFind `^v?[0-9]+\.[0-9]+\.[0-9]+` $tag -}}
{{- $behind := sub (semver $cluster).Minor (semver .).Minor -}}
{{- if or (ne (semver $cluster).Major (semver .).Major) (lt $behind 0) (gt $behind 1) }}
{{- fail (printf "image.kubeScheduler.tag: a scheduler of version %s does not go with Kubernetes %s: it has to be of the same minor version or the one before. Remove the value: the tag is then the cluster's version" $tag $cluster) }}
{{- end -}}
{{- end -}}
{{- include "azuredisk.image" (dict "root" . "image" (merge (dict "tag" $tag) $image)) -}}
{{- end }}

{{/* -> kubelet asks the scheduler, by HTTPS. These paths answer anyone; schedulers before 1.31, which 1.31 may have, lack /readyz. */}}
{{- define "azuredisk.schedulerProbes" -}}
livenessProbe:
  httpGet: {path: /healthz, port: metrics, scheme: HTTPS}
  initialDelaySeconds: 10
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 5
readinessProbe:
  httpGet: {path: {{ ternary "/readyz" "/healthz" (semverCompare ">=1.32.0-0" .Capabilities.KubeVersion.Version) }}, port: metrics, scheme: HTTPS}
  periodSeconds: 2
  timeoutSeconds: 2
{{- end }}
