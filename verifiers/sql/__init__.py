"""SQL queries judged by what they return on a family of small databases."""
