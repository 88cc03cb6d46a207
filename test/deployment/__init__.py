"""The driver on a cluster, as a user installs it, with a simulated Azure beside it."""
