"""For all tests: Hypothesis tries the same cases in every run, and no clock judges it."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "pokearena", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pokearena")
