"""The release of this package, as it is installed."""

from __future__ import annotations

from nlgauge.core.signature import version

__version__ = version("nlgauge")
