// Package decode reads a TOML document into any options struct by reflection, and
// prints a struct as a document again. It reports all faults of a document at once,
// each with its line, column and a suggestion, and records where each value comes
// from. It also makes the JSON Schema and the reference page of a struct's keys.
//
// The package knows no struct by name: a [Dialect] holds what callers know of theirs.
// Time and memory are linear in the size of a document; what exceeds a limit of this
// package is a fault of the document.
package decode
