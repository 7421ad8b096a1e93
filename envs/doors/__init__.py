"""Doors: the environments of other libraries under ids of ours; `verigym/doors.py` names them."""
