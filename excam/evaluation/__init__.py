"""Meta-evaluation: how good a judge is, measured as the paper does, with how sure one can be of each figure."""
