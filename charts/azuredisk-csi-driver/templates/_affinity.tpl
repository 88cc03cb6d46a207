{{/*
Where pods run.
*/}}

{{/* (labels) -> of nodes that pods may run on: those that the user wants, and Linux, which the images are for. */}}
{{- define "azuredisk.nodeSelector" -}}
{{- merge (dict "kubernetes.io/os" "linux") (default dict .) | toYaml -}}
{{- end }}

{{/*
(dict "root" $ "name" ...) -> pods of one Deployment on different nodes: losing a node then costs one replica. Applied when no
affinity is given. Where Kubernetes can tell (since 1.31, unasked), an update's pods keep away from each other only: one that
the update ends would otherwise drive the last of them to a node that has one.
*/}}
{{- define "azuredisk.spread" -}}
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            app: {{ .name }}
        {{- if semverCompare ">=1.31.0-0" .root.Capabilities.KubeVersion.Version }}
        matchLabelKeys: [pod-template-hash]
        {{- end }}
{{- end }}

{{/* (dict "name" ... "constraints" list) -> over zones, if none are given. Each is about the pods of this name, unless it says otherwise. */}}
{{- define "azuredisk.topologySpread" -}}
topologySpreadConstraints:
{{- $zones := dict "topologyKey" "topology.kubernetes.io/zone" "maxSkew" 1 "whenUnsatisfiable" "ScheduleAnyway" }}
{{- range default (list $zones) .constraints }}
{{- $own := ternary dict (dict "labelSelector" (dict "matchLabels" (dict "app" $.name))) (hasKey . "labelSelector") }}
  - {{ merge $own . | toJson }}
{{- end }}
{{- end }}

{{/*
(dict "affinity" ... "nodeAffinity" ...) -> the affinity, which nodes have to satisfy in addition to the nodeAffinity. One of
the terms of each has to be true: so each of the one is combined with each of the other.
*/}}
{{- define "azuredisk.affinity" -}}
{{- $required := "requiredDuringSchedulingIgnoredDuringExecution" -}}
{{- $preferred := "preferredDuringSchedulingIgnoredDuringExecution" -}}
{{- $one := default dict .affinity.nodeAffinity -}}
{{- $other := default dict .nodeAffinity -}}
{{- $terms := list -}}
{{- range $a := default (list dict) (default dict (index $one $required)).nodeSelectorTerms -}}
{{- range $b := default (list dict) (default dict (index $other $required)).nodeSelectorTerms -}}
{{- $term := dict -}}
{{- range $field := list "matchExpressions" "matchFields" -}}
{{- with concat (default list (index $a $field)) (default list (index $b $field)) }}{{ $_ := set $term $field . }}{{ end -}}
{{- end -}}
{{- with $term }}{{ $terms = append $terms . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $node := dict -}}
{{- with $terms }}{{ $_ := set $node $required (dict "nodeSelectorTerms" .) }}{{ end -}}
{{- with concat (default list (index $one $preferred)) (default list (index $other $preferred)) }}{{ $_ := set $node $preferred . }}{{ end -}}
{{- $affinity := omit .affinity "nodeAffinity" -}}
{{- with $node }}{{ $_ := set $affinity "nodeAffinity" . }}{{ end -}}
{{- toYaml $affinity -}}
{{- end }}

{{/* (dict "root" $ "name" ... "affinity" ...) -> of a Deployment's pods, where controller.runOnMaster and runOnControlPlane allow. */}}
{{- define "azuredisk.deploymentAffinity" -}}
{{- $c := .root.Values.controller -}}
{{- $labels := list -}}
{{- if $c.runOnMaster }}{{ $labels = append $labels (dict "key" "node-role.kubernetes.io/master" "operator" "Exists") }}{{ end -}}
{{- if $c.runOnControlPlane }}{{ $labels = append $labels (dict "key" "node-role.kubernetes.io/control-plane" "operator" "Exists") }}{{ end -}}
{{- $node := dict -}}
{{- with $labels }}{{ $node = dict "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" (list (dict "matchExpressions" .))) }}{{ end -}}
{{- include "azuredisk.affinity" (dict "affinity" (default (include "azuredisk.spread" (dict "root" .root "name" .name) | fromYaml) .affinity) "nodeAffinity" $node) -}}
{{- end }}
