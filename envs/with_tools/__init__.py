"""Tools, several attempts and reflection for environments of one turn."""
