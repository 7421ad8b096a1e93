"""Parts of the long programs of `code/predict`."""
