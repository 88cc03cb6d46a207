"""Makes container images, without a daemon: the driver's (driver.py), and others of files (archive.py)."""
