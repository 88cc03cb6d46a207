"""Nodes that die while nobody watches, on a real cluster whose Kubernetes is as slow as it comes."""
