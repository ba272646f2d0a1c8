// Package model holds networks as trees: leaves are layers with their weights, containers
// define how their children run. A network prints, orders and names
// its parts exactly as PyTorch does, so that weights and vocabularies move both
// ways. The tree is plain data: shapes, parameters and costs are worked out
// without running anything, and without LibTorch. Once a network has weights it
// becomes a flat program for package torch, and its weights stay tensors that
// surgery can read and replace.
//
// A new layer is one file that implements Layer and one line in the list of
// kinds; a new network is one short function in the zoo.
package model
