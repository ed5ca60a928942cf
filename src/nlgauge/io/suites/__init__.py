"""Read and write suites of pairs: our own layout, and suites that others published.

`nlgauge audit --suite FILE` reads pairs, and `nlgauge audit DATA --suite NAME` a published suite from the files of its
authors, with the statistic that they report; DATA is one of its files, or a folder in which they are looked for.
`nlgauge list suites` names them all. Nothing is downloaded: fetch the files once from the place that is named below,
and check the terms there. Without its name most of these files are recognised by their fields; the audit then is a
plain one, without the statistic of the authors.

- `--limit N` takes about N pairs from all over a suite, all of a source or none; `--lp de-en` those of one language
  pair.
- Refused, with file and line, are a missing column, a row with another number of cells, an unknown phenomenon, an item
  without one of the checkpoints, and files of unequal length.
- Rows that repeat an earlier one and rows whose two texts are equal are kept; a note names their places. Another note
  says if the number of rows is not the published one.
- A suite that is read by its name has one table for all language pairs; `--segments` writes the pairs with their group.
- If a metric uses a head that comes along, a note says how many texts of the suite the head was trained on.
"""
