"""The emulator on all example kernels: numbers under many interleavings, and deleted sync lines."""
