// Package pt2 reads archives of torch.export into graphs of package model/graph. Nothing in an
// archive is executed: pickles, script objects and compiled code are refused, and sample inputs
// are not opened. What is allocated is bounded by the size of the file.
//
// The layout is that of torch/export/pt2_archive and torch/_export/serde/schema.py in PyTorch 2.7 and 2.8
// and later, with schema version 8.
package pt2
