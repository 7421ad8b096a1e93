"""Settings that every test shares."""

import hypothesis

# A busy machine must not fail a law: hypothesis's own deadline is a timed assertion.
hypothesis.settings.register_profile(
    "verigym",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("verigym")
