{{/*
Grafana's JSON of files/dashboards.yaml.
*/}}

{{- define "azuredisk.dataSource" -}}
{"type": "prometheus", "uid": "${datasource}"}
{{- end }}

{{/*
(dict "panel" a panel "written" the expressions by recorded series that are written out "kind" "stat" "id" 1 "x" 0 "y" 0 "w" 8 "h" 8)
-> the panel, as JSON.
*/}}
{{- define "azuredisk.panel" -}}
{{- $source := include "azuredisk.dataSource" . | fromJson -}}
{{- $targets := list -}}
{{- range $legend, $expression := .panel.queries -}}
{{- range $series, $meaning := $.written }}{{ $expression = replace $series (printf "(%s)" $meaning) $expression }}{{ end -}}
{{- $targets = append $targets (dict "refId" (printf "Q%d" (len $targets)) "datasource" $source "legendFormat" $legend "expr" $expression) -}}
{{- end -}}
{{- $steps := list (dict "color" "green" "value" nil) -}}
{{- with .panel.above }}{{ $steps = append $steps (dict "color" "red" "value" .) }}{{ end -}}
{{- with .panel.below }}{{ $steps = list (dict "color" "red" "value" nil) (dict "color" "green" "value" .) }}{{ end -}}
{{- $defaults := dict "unit" .panel.unit "min" 0 "thresholds" (dict "mode" "absolute" "steps" $steps) -}}
{{- /* Prometheus reckons how much more there was than it has seen: 1.02 for one. */}}
{{- if and (eq .kind "stat") (eq .panel.unit "none") }}{{ $_ := set $defaults "decimals" 0 }}{{ end -}}
{{- $panel := dict
  "id" .id "type" .kind "title" .panel.title "description" (default "" .panel.about) "datasource" $source "targets" $targets
  "gridPos" (dict "x" .x "y" .y "w" .w "h" .h) "fieldConfig" (dict "overrides" list "defaults" $defaults) -}}
{{- with .panel.shows }}{{ $_ := set $panel "options" (dict "textMode" .) }}{{ end -}}
{{- /* Of /csi.v1.Node/NodeStageVolume the last part. What begins with a slash would be an expression with flags. */}}
{{- if contains "{{method_name}}" (keys .panel.queries | join " ") -}}
{{- $short := dict "regex" ".+/(.+)" "renamePattern" "$1" -}}
{{- $_ := set $panel "transformations" (list (dict "id" "renameByRegex" "options" $short)) -}}
{{- end -}}
{{- toJson $panel -}}
{{- end }}

{{/* (dict "dashboard" a dashboard "written" the expressions by recorded series that are written out) -> the dashboard, as JSON. */}}
{{- define "azuredisk.dashboard" -}}
{{- $panels := list -}}
{{- $y := 0 -}}
{{- range $row := .dashboard.rows -}}
{{- $w := div 24 (len $row.panels) -}}
{{- $h := default 8 $row.height | int -}}
{{- range $i, $panel := $row.panels -}}
{{- $place := dict "panel" $panel "written" $.written "kind" (default "timeseries" $row.kind) "id" (add1 (len $panels)) "x" (mul $i $w) "y" $y "w" $w "h" $h -}}
{{- $panels = append $panels (include "azuredisk.panel" $place | fromJson) -}}
{{- end -}}
{{- $y = add $y $h -}}
{{- end -}}
{{- $variables := list (dict "name" "datasource" "label" "Prometheus" "type" "datasource" "query" "prometheus") -}}
{{- range .dashboard.variables -}}
{{- $variables = append $variables (dict "name" .name "type" "query" "query" .query "refresh" 2 "sort" 1 "includeAll" true "multi" true
  "allValue" ".*" "current" (dict "text" "All" "value" "$__all") "datasource" (include "azuredisk.dataSource" . | fromJson)) -}}
{{- end -}}
{{- dict
  "uid" (printf "azuredisk-%s" .dashboard.name) "title" .dashboard.title "tags" (list "azuredisk") "schemaVersion" 39 "editable" true "refresh" "30s"
  "time" (dict "from" "now-6h" "to" "now") "templating" (dict "list" $variables) "panels" $panels
  "links" (list (dict "type" "dashboards" "tags" (list "azuredisk") "title" "Azure disks" "asDropdown" true "includeVars" false "keepTime" true))
  | toJson -}}
{{- end }}
