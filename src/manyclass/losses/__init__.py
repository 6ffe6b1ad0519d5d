"""Losses: functions of scores and labels, which never see X."""
