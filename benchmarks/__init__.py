"""Measurements of ours against the stock scheduler, always both in one run."""
