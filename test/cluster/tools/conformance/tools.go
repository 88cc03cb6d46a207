//go:build tools

// Package tools pins Kubernetes' own end-to-end suite and the program that its pods run.
package tools

import (
	_ "github.com/onsi/ginkgo/v2/ginkgo"
	_ "k8s.io/kubernetes/test/e2e"
	_ "k8s.io/kubernetes/test/images/agnhost"
)
