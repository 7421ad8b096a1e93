"""Web environments: generated pages, driven as accessibility text."""
