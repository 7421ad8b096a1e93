"""Verifying the verifiers: labelled cases in, error rates with intervals and a card out."""
