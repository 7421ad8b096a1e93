"""Engines that sample token ids, each behind `Sampler`; one engine a file."""
