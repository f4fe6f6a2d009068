"""A real Apache Kafka for tests: KRaft brokers on loopback from the published jars, fetched once by Maven and cached.

One broker serves most tests; three serve those that kill one. Nothing outlives the test session.
"""

from tests.kafka.broker import Broker
from tests.kafka.cluster import running_kafka, wait_until_ready
from tests.kafka.topics import Kafka

__all__ = ["Broker", "Kafka", "running_kafka", "wait_until_ready"]
