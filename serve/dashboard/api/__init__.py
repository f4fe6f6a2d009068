"""The JSON API, one file a resource; every route reads, and only reviews write."""
