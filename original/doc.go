// Package original contains everything that only reproduces what the original system published: its tables, reports,
// result folders, policies and vocabularies.
//
// # Design
//
// Small arithmetic in Go. A policy of the original system needs half a million multiplications for a network. Plain
// Go computes them, in float32 with sums in float64; tests compare it with LibTorch and the published numbers of the
// original system. Evaluation therefore does not need LibTorch and takes milliseconds. The weights are also kept as
// an ordered set of named tensors, as in its file.
//
// One folder for the original system. The main path works without the folder original. Its packages are on two
// levels. config asks original/published for the policy or table that a file names, so that package is below config
// and above internal/decode, which finds lines and columns in files of the original system. original/convert writes
// jobs, scenarios and studies, which only config can check, so it is above. The kernels of the biLSTM policy are the
// files policy* in torch/csrc, because only package torch uses cgo. They are accessible through torch.Policy, which
// only original/learn uses. net2net has the compat mode of surgery, which is off by default. The original system's
// networks are in the zoo (model/zoo_original.go), because any job may name them.
//
// The faults of the original system are options. Shared tokens are in the vocabulary file; the missing token 0 and
// the wrong policy of its last code are options of the evaluation. The default is the setting that the policy learned
// with, which the number of rows in the policy's file reveals.
//
// Evaluation needs little of a decider. evaluation.StepPolicy maps a point (the actions so far, the available ones,
// the time left, the network) to probabilities. The network has no weights, so following a sequence costs a few
// copies of a tree. Stepwise turns a StepPolicy into a policy on whole trees, so the original system's policies can
// be compared with all other policies. original.Evaluate creates its report from the same steps.
package original
