// Package tables keeps the outcome of every action sequence of a scenario: a network, a dataset, a budget and the times
// of new devices. A table is a tree: each sequence is a path from its root, and sequences with a common beginning share
// its results.
//
// On disk a table is a folder:
//
//	scenario.json      what the sequences have in common, and its digest; written once
//	WRITER-1.jsonl     records, one per line; one file per writer
//	WRITER-1.lock      the lock of that file; the file of a lock stays, and is held
//	                   only by a live process
//
// # Faults that a table survives
//
// Every writer has its own file, named after its host and a number, so writers on several machines never touch each
// other's bytes. A file appears complete with its first line. Each record is appended by one write. A kill leaves at
// most one torn line at the end of its writer's file: readers skip it and the next writer of that file removes it. No
// other part of a file is ever changed.
//
// The key of a record is a digest of everything that determines its outcome. A run that was executed twice leaves two
// records with one key. If they agree, readers return one of them. If they disagree, readers return neither of them,
// and a [Fault].
//
// # Lines
//
// A line is one JSON value that begins with a CRC-32C in eight hexadecimal digits. The checksum covers everything
// after the comma that follows it:
//
//	{"sum":"9f51e1cd","head":{"line":1,"file":…,"format":1,"sha256":…,"scenario":{…}}}
//	{"sum":"5b2f0c9d","record":{"line":2,"key":…,"sequence":[…],"left_s":[…],…}}
//	{"sum":"02d5a3e8","end":{"line":3}}
//
// Each line holds its number, so lost and duplicated lines are detected. The head repeats the scenario, so records
// can be matched to it and survive the loss of scenario.json. A writer that closes its file adds the end; the next
// writer appends below it.
//
// The format is text: every tool reads it, and a damaged line does not damage other lines. Lines in the exact form
// that this package writes are parsed without a JSON parser, other lines with a JSON parser. The CRC finds every
// error of up to 32 consecutive bits. It does not authenticate.
//
// # Design
//
// A file per writer. Workers on several machines fill one table, on file systems where locks and appends are
// unreliable. Two processes therefore never write to the same file: a writer creates its own file, or takes over a
// file of its host from a dead process. The scenario and the beginning of a file are linked into place.
//
// Once, by content. A worker may die after its commit and before its report; the work is then repeated. The key of a
// record is a digest of everything that determines it: two records with the same key must be equal; otherwise a fault
// names both places. Writers therefore need no agreement.
//
// Text with independent lines. A line has its own checksum and number. A damaged line is skipped and reported, a
// missing one is detected by its number, and the lines around a lost line break are recovered. Lines in the form that
// this package writes are read without a JSON parser, ten times as fast: 100,000 lines are opened and checked in less
// than a second.
package tables
