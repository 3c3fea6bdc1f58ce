"""The check of lowered kernels: what it makes of changed kernels, how far it proves, its cost."""
