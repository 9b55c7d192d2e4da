"""The library's errors; each message is one sentence: what, where, what to do."""

from __future__ import annotations

__all__ = ["ConfigError", "DataError", "MarginlabError", "SolverError", "UserError"]


class MarginlabError(Exception):
    """Base of every error that marginlab raises on purpose."""


class UserError(MarginlabError, ValueError):
    """A mistake in what the user gave: argument, file, setting."""


class DataError(UserError):
    """A data file or array that cannot be used as it is."""


class ConfigError(UserError):
    """A setting that is unknown, of the wrong type or out of range."""


class SolverError(MarginlabError, RuntimeError):
    """A solver that is missing, failed, or returned an answer that does not check."""
