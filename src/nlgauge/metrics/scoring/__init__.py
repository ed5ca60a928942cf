"""Scores of segments: by call, by source and block by block, with the totals of systems."""
