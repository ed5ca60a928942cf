"""The plugin of pytest: the fixture `nlgauge`, whose runs are judged by gates. Nothing is loaded before it is used."""
