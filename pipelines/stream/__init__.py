"""Live traffic: a Kafka topic judged as it grows, on the stages of the batch pipeline, every pair exactly once."""
