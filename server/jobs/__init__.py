"""Jobs: verdicts that are asked for now and fetched later, kept in a store that survives kill -9."""
