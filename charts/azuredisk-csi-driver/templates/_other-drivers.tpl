{{/*
Values by the names of the other drivers' charts: files/other-drivers.yaml says what becomes of each.
*/}}

{{/* (dict "values" .Values "path" "a.b.c") -> the value, as JSON; null: it is not set. */}}
{{- define "azuredisk.valueAt" -}}
{{- $found := .values -}}
{{- range splitList "." .path -}}
{{- if kindIs "map" $found }}{{ $found = index $found . }}{{ end -}}
{{- end -}}
{{- toJson $found -}}
{{- end }}

{{/* (dict "values" .Values "path" "a.b.c" "row" its row) -> not empty: it is set, and not to the default of a chart that has it. */}}
{{- define "azuredisk.deviates" -}}
{{- $value := include "azuredisk.valueAt" . -}}
{{- $deviates := ne $value "null" -}}
{{- range pick .row "both" "v1" "v2" -}}
{{- $full := $value -}}
{{- if and (kindIs "map" .) (hasPrefix "{" $value) }}{{ $full = mergeOverwrite (deepCopy .) (fromJson $value) | toJson }}{{ end -}}
{{- if eq $full (toJson .) }}{{ $deviates = false }}{{ end -}}
{{- end -}}
{{- if $deviates }}yes{{ end -}}
{{- end }}

{{/* (dict "root" $ "class" "ignored") -> lines: the values of this class that are set, each with the reason; of those that are mapped, the ones with another name. */}}
{{- define "azuredisk.valuesOfClass" -}}
{{- range $group := .root.Files.Get "files/other-drivers.yaml" | fromYamlArray -}}
{{- range $path, $row := $group.values -}}
{{- if and (eq $group.class $.class) (or $row.to (ne $group.class "mapped")) (include "azuredisk.deviates" (dict "values" $.root.Values "path" $path "row" $row)) }}
  {{ $path }}: {{ with $row.to }}it is {{ . }} here{{ else }}{{ $group.why }}{{ end }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Puts values that have another name here where the templates look for them. For each template that uses one of them. */}}
{{- define "azuredisk.settle" -}}
{{- range $group := .Files.Get "files/other-drivers.yaml" | fromYamlArray -}}
{{- range $path, $row := $group.values -}}
{{- $value := include "azuredisk.valueAt" (dict "values" $.Values "path" $path) -}}
{{- if and $row.to (ne $value "null") -}}
{{- $names := splitList "." $row.to -}}
{{- $place := $.Values -}}
{{- range initial $names }}{{ $place = index $place . }}{{ end -}}
{{- $_ := set $place (last $names) (printf `{"value": %s}` $value | fromJson).value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
