"""Games and questions of other libraries, played and judged; each library is imported when it is used."""
