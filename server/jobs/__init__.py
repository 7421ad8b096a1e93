"""Jobs: verdicts requested now and fetched later, kept in a store that survives kill -9."""
