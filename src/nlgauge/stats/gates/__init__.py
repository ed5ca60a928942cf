"""May a change ship? Bounds of a paired difference that keep their level where most items did not change."""
