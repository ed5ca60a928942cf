"""Colours that show how much, or which way and how far, in steps that look equal; and ink that can be read on them."""

from __future__ import annotations

import math
from functools import lru_cache

_LIGHTNESS = (0.985, 0.28)  # OKLCH, least to most; from 0.6 of the way on white can be read
_CHROMA = (0.004, 0.06)
_HUE = math.radians(255)
_MIDDLE, _END, _VIVID = 0.985, 0.27, 0.09  # lightness at 0 and at either end, chroma at the ends
_BELOW, _ABOVE = math.radians(255), math.radians(60)


@lru_cache(1024)
def shade(share: float) -> str:
    """The colour of a share in [0, 1] as "#rrggbb": 0 is almost white, 1 is dark.

    Equal differences look equal, in grey too.

    References:
        Ottosson (2020), "A perceptual color space for image processing", for OKLab.
    """
    share = min(1.0, max(0.0, share))
    lightness, chroma = (low + (high - low) * share for low, high in (_LIGHTNESS, _CHROMA))
    return from_oklch(lightness, chroma, _HUE)


@lru_cache(2048)
def signed(value: float) -> str:
    """The colour of a number in [-1, 1] as "#rrggbb": white at 0, blue below, brown above.

    What lies beyond has the colour of the end.
    """
    share = min(1.0, abs(value))
    return from_oklch(_MIDDLE + (_END - _MIDDLE) * share, _VIVID * share, _BELOW if value < 0 else _ABOVE)


def from_oklch(lightness: float, chroma: float, hue: float) -> str:
    """A colour of OKLCH as "#rrggbb", clipped to what screens show.

    Lightness is in [0, 1], chroma from 0 on, hue in radians.
    """
    return "#" + "".join(
        f"{_encode(channel):02x}" for channel in _linear_rgb(lightness, chroma * math.cos(hue), chroma * math.sin(hue))
    )


@lru_cache(1024)
def ink(background: str) -> str:
    """Black or white, whichever stands out more from the background.

    The contrast is then at least 4.5, as WCAG 2 asks of text.
    """
    return max(("#000000", "#ffffff"), key=lambda colour: contrast(colour, background))


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two "#rrggbb" colours as WCAG 2 defines it, in [1, 21]."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance of "#rrggbb", in [0, 1]."""
    red, green, blue = (_decode(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear_rgb(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _encode(linear: float) -> int:
    linear = min(1.0, max(0.0, linear))
    return round(255 * (12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055))


def _decode(channel: int) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
