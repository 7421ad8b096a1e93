"""`verigym new`: a package with one environment, ready to publish.

write.py writes one of your own, hubs.py one that publishes an installed environment on a hub. The files stand in
`template/` and the folders of the hubs, with `$name` and the like for what differs.
"""
