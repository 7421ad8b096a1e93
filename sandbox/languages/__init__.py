"""One short TOML file a language; `load.py` reads them."""
