"""A real Kubernetes cluster on one machine, see README.md."""
