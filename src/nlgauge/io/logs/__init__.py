"""Logs of other tools: what models answered, with the scores that a tool gave.

Every verb takes a log where it takes a data set, as the tool wrote it; which tool that was is told from its content.
What holds for all of them:

- Scores of the tool become columns as ratings do, so `nlgauge meta LOG -m SPEC --criterion match` shows how a metric
  goes with them. A pass flag is a column of its own, 0 or 1 (`pass`, `NAME.pass`). Of two scores with one name the
  second is `NAME#2`.
- A missing, failed or unreadable score is undefined and counted, never 0, also where the tool stored 0.
- Runs of an item (epochs, repeats, retries that were stored as results) are segments of one item, with `#2`, `#3`
  behind the id. `gate` averages them before it compares.
- An answer that is missing because a run failed is left out and counted. `gate` then says which items lack.
- An empty reference is none.
- A last line that breaks off is skipped with a note; anywhere else it is an error. NaN and Infinity are undefined.
- Fields that are not known are ignored, and an unknown version is noted.
- A log is held in memory, under the limits of all files. Nothing that a log names is opened, loaded or run.
"""
