// Package results writes run folders and reads them back.
//
// A run folder holds everything of one run:
//
//	manifest.json         what was run, where and with what: [Manifest]
//	config.toml           the configuration as given
//	config.resolved.toml  the same with every default filled in
//	streams.json          the names of the tables and logs that follow
//	NAME.csv              tables of measurements: [Stream], [Table]
//	NAME.jsonl            logs, a JSON value in each line: [Lines]
//	events.jsonl          the log of a job's events: [JobEvent]
//	log.jsonl             the log of the program; only it is not cut when a run is
//	                      resumed, and a run continues if it cannot be written
//	NAME.tfevents         figures for TensorBoard: [Events]
//	checkpoints/          NUMBER-NAME.ckpt, the last good ones: [Checkpoint]
//	outcome.json          the outcome of the run; absent until it has ended
//	progress.json         the progress of a run that has not ended: [Progress]; no result depends on it
//	lock                  the process that writes the run; the file remains, and
//	                      only a process that lives holds its lock
//
// The manifest is written last, so a folder with a lock and without a manifest was never finished, and Create reuses
// it. No existing folder is overwritten. Readers hold no lock. They refuse files that are not regular and tables above
// 1 GiB; on a file system of [files.Beneath] they also do not follow links out of a folder.
//
// # What survives
//
// Files that are written in one step reach the disk completely or not at all. Tables and logs grow by whole lines. A
// kill leaves at most one torn line at the end, which readers skip and the next process truncates. A checkpoint
// contains the number of rows of each table and log, and is written after those rows are on stable storage, so that
// [Run.Rewind] can restore all of them to that moment.
//
// # Tables
//
// The first line names the columns, with the unit in brackets: `loss [nats]`. The syntax of a value shows its kind:
// text is quoted, with quotes doubled and without line breaks; true and false are bare; an int is digits; a float has a
// point, an exponent or is NaN, +Inf or -Inf, and is the shortest text that reads back as the same bits. An empty cell
// is a missing value.
//
// # Checkpoints
//
// A checkpoint is named sections of bytes, one after another:
//
//	8 bytes   GRAFTCKP
//	4 bytes   format version, 1, little-endian as all numbers here
//	          the sections' bytes
//	          the index in JSON: {"sections": [{"name": …, "length": …}, …]}
//	8 bytes   length of the index
//	32 bytes  SHA-256 of everything before
//
// This package writes the section "streams.json" itself: the number of rows and the digest of each table and log.
package results
