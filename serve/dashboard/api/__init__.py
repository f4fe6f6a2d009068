"""The JSON API, one file a resource; every route reads; reviews and requests for a replay write."""
