// Package decode reads a TOML document into any options struct by reflection, and prints a struct as a document. It
// reports all faults of a document at once, each with its line, column and a suggestion, and records the source of each
// value. It also makes the JSON Schema and the reference page of a struct's keys.
//
// The package is independent of concrete structs: a [Dialect] describes the caller's. Time and memory are linear in the
// size of a document; exceeding a limit of this package is a fault of the document.
package decode
