"""Train the judge: tokens once, batches without padding, one step function, a loop that keeps to a clock.

Nothing here needs Ray, Arrow or peft while it trains: a host with torch and transformers is enough.
"""
