// Package config reads configuration files, checks them completely and reports all faults at once, each with its
// line. It composes the options of other packages into kinds of files: see [Kinds]. Package decode handles TOML; this
// package defines jobs, scenarios and pipelines. It also reads and writes files of networks and profiles.
//
// # Design
//
// Configuration consists of the options of packages. internal/decode reads and prints them by reflection: a new field
// of an options struct is a new key. Each package has its defaults and checks. A kind of file (job, scenario,
// pipeline) is one value, config.Kind: the sections that identify it, the options that it composes, its title.
// Reading, printing, digest, schema and reference page are derived from it. The tag result of a field states whether
// results depend on its key (none means they do not): digests, comparisons and figures use the same function. go
// generate ./config updates schema and reference page.
//
// A document is limited before it is decoded. The TOML library compares each key with all other keys of its table, so
// internal/decode first scans the document once and rejects a document that exceeds the limits on keys, depth and
// size. Time and memory are linear in the size of the document for any number of faults: internal/decode keeps the
// first faults and counts the rest.
//
// Network files. Only internal/decode handles TOML. A file becomes plain values, which model converts to a tree and
// back; faults carry their path in those values, and internal/decode finds line and column. A fault of options begins
// with the name of its key ("profile is …"), which gives its line; otherwise the section gives it. Layers are written
// as PyTorch prints them or as Python code constructs them. The same reader is used for vocabularies.
package config
