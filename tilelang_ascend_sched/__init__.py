"""Scheduler plugin for TileLang's Ascend backend."""
