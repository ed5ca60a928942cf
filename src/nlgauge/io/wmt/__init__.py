"""The formats of WMT's metrics task."""
