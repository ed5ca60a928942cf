"""What inspect_ai loads by the entry point of nlgauge, when a name such as `nlgauge/nlgauge` is asked for."""

from nlgauge.adapters.inspect import registered

registered()
