// Package model holds networks as trees: leaves are layers with their weights, containers define how their children
// run. A network prints, orders and names its parts exactly as PyTorch does, so weights and vocabularies can move in
// both directions. The tree is plain data: shapes, parameters and costs are computed without running anything, and
// without LibTorch. Once a network has weights it becomes a flat program for package torch, and its weights stay
// tensors that surgery can read and replace.
//
// A new layer is one file that implements Layer and one line in the list of kinds; a new network is one short function
// in the zoo.
//
// # Design
//
// A tree of plain data, one interpreter. A layer is a value with its tensors, shapes, cost, effect on channels, and
// instructions. A container defines how its children run. model.Run walks a tree in execution order with an algebra;
// shapes, costs, programs, channels and drawings are one algebra each, so they agree on the order. Printed text and
// names are the same as in PyTorch. An operation without a module in PyTorch, such as flattening before a classifier,
// is a named step of the flow and not printed. The execution order may differ from the order of registration, and a
// layer without weights may run twice.
//
// Imported networks are graphs. A tree of known layers cannot represent every network of PyTorch. model/graph holds a
// network as operators on values, which are pure and may have several inputs and results; the modules, with PyTorch's
// names, classes and printed text, are only for display. Readers of archives execute nothing and limit allocations by
// the size of the file. They convert operators in place to plain operators, since surgery on a graph needs every
// reader of a value; they reject an archive if that would change the result. The graph does not store the mode: each
// pass sets arguments such as training.
//
// Networks as graphs. model.Network has a graph in addition to its tree. The tree then has the modules and their
// tensors, so names, printed text, weights, checkpoints and optimizers work as in other networks. Only the graph
// runs. Transformers of the zoo are built as graphs (model/transformer, model/vision).
package model
