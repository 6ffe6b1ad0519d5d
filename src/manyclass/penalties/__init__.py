"""Penalties: functions of W, which never see X."""
