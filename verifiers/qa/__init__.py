"""The question-answering verifiers."""
