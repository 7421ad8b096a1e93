"""The laws, by kind. A law is a function of a `Subject` that raises `Broken`; it may give figures."""
