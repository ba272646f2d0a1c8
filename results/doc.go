// Package results is about run folders: what is written and how it is read back.
//
// A run folder holds everything of one run:
//
//	manifest.json         what was run, where and with what: [Manifest]
//	config.toml           the configuration as given
//	config.resolved.toml  the same with every default filled in
//	streams.json          the names of the tables and logs that follow
//	NAME.csv              tables of measurements, a row each: [Stream], [Table]
//	decisions.jsonl       what the policy decided, a JSON value in each line: [Lines]
//	events.jsonl          what happened otherwise
//	log.jsonl             the diary; it alone is kept whole when a run is resumed, and
//	                      a run goes on without it where it cannot be written
//	checkpoints/          NUMBER-NAME.ckpt, the last good ones: [Checkpoint]
//	outcome.json          how the run ended; absent until then
//	lock                  whom the run belongs to; it stays behind, and is held
//	                      only by a process that lives
//
// The manifest is written last, so a folder with a lock and no manifest was
// never finished and is made anew. No existing folder is written over.
//
// # What survives
//
// Whole files reach the disk whole or not at all. Tables and logs grow by whole
// lines: a kill leaves at most one torn line at the end, which readers pass over
// and the next process cuts off. A checkpoint says how many rows each table and
// log had, and is written after those rows are on stable storage, so
// [Run.Rewind] can bring all of them back to the very moment.
//
// # Tables
//
// The first line names the columns, with the unit in brackets: `loss [nats]`.
// A value shows its kind: text stands in quotes, a quote in it is doubled, and
// it has no line break; true and false are bare; an int is digits; a float has
// a point, an exponent or is NaN, +Inf or -Inf, and is the shortest that reads
// back as the same bits. Nothing between two commas is a missing value.
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
// The section "streams.json" is the package's own: rows and digest of each
// table and log.
package results
