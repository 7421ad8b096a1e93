"""Adapters to the environments of other libraries, under ids of this package; `verigym/doors.py`
names them."""
