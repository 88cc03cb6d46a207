"""make bench: what the driver asks of Azure under load, how long it takes and what it needs."""
