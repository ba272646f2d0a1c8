// Package config reads the files that users write, checks them whole and reports all
// faults at once, each with its line. It composes the options of the rooms below into
// kinds of files: see [Kinds]. Package decode knows TOML; this one knows what a job, a
// scenario or a pipeline is. It also reads and writes files of networks and profiles.
//
// # Design
//
// Configuration is the rooms' options. internal/decode reads and prints them by reflection: a new field of an
// options struct is a new key. Each room has its defaults and checks. A kind of file (job, scenario, pipeline)
// is one value, config.Kind: the sections that identify it, the options that it composes, its title. Reading,
// printing, digest, schema and reference page follow from it. The tag result of a field says whether results
// depend on its key (none: not at all): digests, comparisons and figures use the same function. go generate
// ./config updates schema and reference page.
//
// A document is bounded before it is decoded. The TOML library compares each key with all others of its table,
// so internal/decode first scans the document once and refuses one that exceeds the limits on keys, depth and
// size. Time and memory are linear in the document, with any number of faults: the first are kept, the rest
// counted.
//
// Network files. internal/decode is the only package that knows TOML. A file becomes plain values, which model
// converts to a tree and back; faults carry their place in those values, and internal/decode finds line and
// column. A fault of options begins with the name of its key ("profile is …"), by which its line is found;
// otherwise it is placed at the section. Layers are written as PyTorch prints them or as a Python user would
// make them: the same reader serves vocabularies.
package config
