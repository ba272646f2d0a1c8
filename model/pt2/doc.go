// Package pt2 reads archives of torch.export into graphs of package model/graph. It executes nothing in an archive: it
// rejects pickles, script objects and compiled code, and does not open sample inputs. The size of the file limits
// allocations.
//
// The supported layouts are torch/export/pt2_archive and torch/_export/serde/schema.py in PyTorch 2.5 to 2.7 and in
// PyTorch 2.8 or later, with schema versions 7 (PyTorch 2.5) and 8.
package pt2
