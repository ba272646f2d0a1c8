// Package decider chooses how to adapt a network, given the network and the time left. A decision depends only on the
// state, so a resumed job makes the same decisions.
//
// # Design
//
// Any network, any number of choices. A token is a layer's kind and its sizes, so every layer has a token; a layer that
// vocab/kind.go does not list has the kind other. A new kind there makes saved policies unreadable. Tokens receive
// messages from their neighbours along the graph, in both directions. One small network scores each action that fits.
// Its inputs are the state, and the mean encoding of the layers that the action changes, of all layers and of the
// layers that it adds. Softmax over the scores is the policy. The added layers are found by applying the action to a
// network without tensors, so a new operation needs no code here. By default deciders propose only deepening and
// widening.
//
// Constant features are zero. Values are scaled by the policy's training data. A feature that never varied there is
// always zero, since its weights are still their random initial values. Values are clipped at ±4 standard deviations.
//
// The gradient is exact. A table has all sequences: the gradient of the objective with respect to the logits is two
// passes over the tree in Go, and LibTorch backpropagates it in one call for all states of all tables. Maximising the
// expected reward alone gets stuck at sequences that are good on average. (1/β) log E exp(βR) does not, and at β = 8
// learns all tables at once. A policy for new scenarios learns from rewards that are smoothed within a table and pooled
// across tables instead: the best of sequences with one run each was partly luck.
//
// A forest predicts means. It predicts the advantage of a choice over the mean of its decision's choices. Later
// decisions are assumed to be random and not the best ones, since the best of noisy sequences was lucky. Trees are
// extremely randomized, so growing them needs no sorting, and are stored in arrays in preorder; a file is checked to be
// a tree before use. No tensor is involved.
//
// A job accepts either kind of policy. Its file states the kind. Its content is part of the job's digest, so a job
// resumes only with the policy with which it began.
//
// Seeds share nothing. Many seeds learn in parallel, each on a thread and with its own checkpoint file, which also
// contains its metrics. No seed waits for a common checkpoint, a kill costs each seed only the work after its own
// checkpoint, and the table of metrics is rewritten from these files.
//
// Regret with its noise. Every policy and baseline is evaluated on the same tree, as a distribution over its records. A
// regret is reported with the noise of a record, the ranks that noise could exchange, and the expected regret of an
// oracle. Compare averages over tables and seeds, and pairs differences by table. A difference is significant only if
// neither the choice of tables nor their noise explains it; nothing is ranked. Two policies that choose the same record
// share its noise, so it does not count in their difference. CompareLeftOut gives the learner only the other tables.
package decider
