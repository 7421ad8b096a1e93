"""`verigym new`: a pip package with one environment, its tests, its licence and its CI, ready to publish.

The files stand in `template/`, with `$name` and the like for what differs.
"""
