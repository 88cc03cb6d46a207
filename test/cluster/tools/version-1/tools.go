//go:build tools

// Package tools names the program of Microsoft's driver for Azure disks, version 1, that test/moves moves from and back to.
package tools

import (
	_ "sigs.k8s.io/azuredisk-csi-driver/pkg/azurediskplugin"
)
