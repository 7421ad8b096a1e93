"""Search environments: questions about a made-up world of 20,000 pages."""
