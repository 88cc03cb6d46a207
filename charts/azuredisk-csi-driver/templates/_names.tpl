{{/*
Names of objects. The default driver's are those of the chart of the Azure Disk CSI driver V2; another driver's have its
name appended, so that both can be in one cluster.
*/}}

{{/* (dict "root" $ "value" .Values.x "default" "azuredisk") -> the name that is set, or the default with the driver's name. */}}
{{- define "azuredisk.name" -}}
{{- $driver := .root.Values.driver.name -}}
{{- $name := printf "%s-%s" .default (replace "." "-" $driver) -}}
{{- if .value }}{{ .value -}}
{{- else if eq $driver "disk.csi.azure.com" }}{{ .default -}}
{{- else if le (len $name) 63 }}{{ $name -}}
{{- else }}{{ printf "%s-%s" (trunc 54 $name | trimSuffix "-") (sha256sum $driver | trunc 8) }}{{ end -}}
{{- end }}

{{/* (object of the cluster) -> NAMESPACE/NAME of the release that has it, "" if none has. */}}
{{- define "azuredisk.releaseOf" -}}
{{- $annotations := default dict .metadata.annotations -}}
{{- with get $annotations "meta.helm.sh/release-name" }}{{ printf "%s/%s" (get $annotations "meta.helm.sh/release-namespace") . }}{{ end -}}
{{- end }}

{{/* -> the names of this release's objects, as JSON. */}}
{{- define "azuredisk.names" -}}
{{- $v := .Values -}}
{{- $classes := $v.storageClasses.storageClassNames -}}
{{- $rows := dict
  "controller"        (list $v.controller.name "csi-azuredisk-controller")
  "node"              (list $v.linux.dsName "csi-azuredisk-node")
  "extender"          (list $v.schedulerExtender.name "csi-azuredisk-scheduler-extender")
  "extenderConfig"    (list "" "csi-azuredisk-scheduler-extender-config")
  "scheduler"         (list "" "csi-azuredisk-scheduler")
  "schedulerConfig"   (list "" "csi-azuredisk-scheduler-config")
  "schedulerName"     (list "" "csi-azuredisk-scheduler-extender")
  "controllerAccount" (list $v.serviceAccount.controller "csi-azuredisk-controller-sa")
  "nodeAccount"       (list $v.serviceAccount.node "csi-azuredisk-node-sa")
  "extenderAccount"   (list $v.serviceAccount.schedulerExtender "csi-azuredisk-scheduler-extender-sa")
  "schedulerAccount"  (list $v.serviceAccount.scheduler "csi-azuredisk-scheduler-sa")
  "installCheck"      (list "" "csi-azuredisk-install-check")
  "installCheckAccount" (list $v.serviceAccount.installCheck "csi-azuredisk-install-check-sa")
  "upgradeCheck"      (list "" "csi-azuredisk-upgrade-check")
  "upgradeCheckAccount" (list "" "csi-azuredisk-upgrade-check-sa")
  "uninstallCheck"    (list "" "csi-azuredisk-uninstall-check")
  "uninstallCheckAccount" (list "" "csi-azuredisk-uninstall-check-sa")
  "snapshotController" (list $v.snapshot.snapshotController.name "csi-snapshot-controller")
  "snapshotAccount"   (list $v.serviceAccount.snapshotController "csi-snapshot-controller-sa")
  "snapshotClass"     (list $v.snapshot.VolumeSnapshotClass.name "csi-azuredisk-vsc")
  "metrics"           (list "" "csi-azuredisk-metrics")
  "alerts"            (list "" "csi-azuredisk-alerts")
  "dashboard"         (list "" "csi-azuredisk-dashboard")
  "roles"             (list $v.rbac.name "azuredisk")
  "objects"           (list $v.driver.objectNamespace "azure-disk-csi")
  "standardLRS"       (list $classes.standardLRS "azuredisk-standard-hdd-lrs")
  "standardSSDLRS"    (list $classes.standardSSDLRS "azuredisk-standard-ssd-lrs")
  "standardSSDZRS"    (list $classes.standardSSDZRS "azuredisk-standard-ssd-zrs")
  "premiumSSDLRS"     (list $classes.premiumSSDLRS "azuredisk-premium-ssd-lrs")
  "premiumSSDZRS"     (list $classes.premiumSSDZRS "azuredisk-premium-ssd-zrs")
  "ultraSSDLRS"       (list $classes.ultraSSDLRS "azuredisk-ultra-ssd-lrs")
  "premiumV2LRS"      (list $classes.premiumV2LRS "azuredisk-premium-v2-ssd-lrs") -}}
{{- $names := dict -}}
{{- range $key, $row := $rows -}}
{{- $_ := set $names $key (include "azuredisk.name" (dict "root" $ "value" (index $row 0) "default" (index $row 1))) -}}
{{- end -}}
{{- toJson $names -}}
{{- end }}
