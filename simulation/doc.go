// Package simulation holds what a policy learns from: the outcome of every action
// sequence of a scenario, which is a network, a dataset, a budget and the time at
// which devices come. A table is a tree: each sequence is a path from its root, and
// sequences that begin alike share what happened until they part.
//
// On disk a table is a folder:
//
//	scenario.json      what the sequences have in common, and its digest; written once
//	WRITER-1.jsonl     records, a line each; one file for each writer at work
//	WRITER-1.lock      whom that file belongs to; it stays behind, and is held only
//	                   by a process that lives
//
// # What survives
//
// Every writer has a file of its own, named after its host and a number, so writers on
// several machines never touch each other's bytes. Files come to be whole, with their
// first line; records are appended, each by one write. A kill leaves at most one torn
// line at the end of its writer's file, which readers pass over and the next writer
// of that file takes away. Nothing else is ever changed.
//
// A record is known by a key, a digest of what its outcome follows from. A run that
// was executed twice has left two records of one key: where they agree, readers give
// one of them, and where they do not, neither, and a [Fault].
//
// # Lines
//
// A line is one JSON value that begins with the CRC-32C, in eight hexadecimal digits,
// of all that follows the comma behind it:
//
//	{"sum":"9f51e1cd","head":{"line":1,"file":…,"format":1,"sha256":…,"scenario":{…}}}
//	{"sum":"5b2f0c9d","record":{"line":2,"key":…,"sequence":[…],"left_s":[…],…}}
//	{"sum":"02d5a3e8","end":{"line":3}}
//
// It says which line it is, so that one that is lost or doubled is missed. The head
// repeats the scenario, so that records are known to be its own and outlive the loss
// of scenario.json. A writer that closes its file ends it; another that goes on with
// the file writes below.
//
// Text was chosen since any tool reads it and a damaged line is damaged alone; what
// binary would save is not missed, since lines as writers write them are read without
// a JSON parser, and others with one. A CRC finds every error of up to 32 bits in a row.
//
// # Grids
//
// A [Grid] makes tables. It is a tree of legs: a [Leg] is the training between two
// decisions, and sequences that begin alike have their first legs in common. A job runs
// until it asks for a decision, which is left open; its state is kept, and each of the
// actions goes on from there. What a leg led to, an [Outcome], is kept in a [Store] by a
// digest of all that it follows from: network and first weights, images, options, profile,
// versions, actions and seed, but not the scenario's name. So nothing is run twice, by
// whichever scenario.
//
//	outcomes/ab/KEY.json    a leg's, a line with a checksum; written once, by a link
//	states/ab/KEY.state     the job before the next decision; gone when all have begun there
//	states/ab/KEY.stopped   a job that was stopped on its way, with which others go on
//
// Workers share nothing but the store and who has which leg. One that dies costs its leg
// at most; two that run the same leg come to the same outcome, of which the first stays.
// An outcome that is damaged is put aside and run again. A table is collected from the
// outcomes in the order of the tree: the same bytes whoever ran what, and when.
package simulation
