"""The main job, shown: a database-like pod loses its node and goes on elsewhere.

`python3 -m demo` runs it; what a failover costs is in build/reports/demo.json afterwards.
"""
