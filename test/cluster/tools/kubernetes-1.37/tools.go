//go:build tools

// Package tools pins programs of another release of Kubernetes than that of the clusters.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
)
