"""What the product promises, on a real cluster with a simulated Azure."""
