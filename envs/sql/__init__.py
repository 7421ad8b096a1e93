"""Questions over databases, answered in SQL; judged by `sql/query`."""
