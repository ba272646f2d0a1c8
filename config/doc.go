// Package config reads the files that users write, checks them whole and reports all
// faults at once, each with its line. It composes the options of the rooms below into
// kinds of files: see [Kinds]. Package decode knows TOML; this one knows what a job, a
// scenario or a pipeline is. It also reads and writes files of networks and profiles.
package config
