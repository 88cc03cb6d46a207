"""The chart's dashboards, as pictures of what a real Prometheus has read from a cluster in which things happen.

`python3 -m monitoring` (`make pictures`) writes docs/pictures/dashboard-NAME.svg. Grafana is not needed: a dashboard's JSON
says which panels it has and what each asks, and that is asked of Prometheus and drawn.
"""
