// Package estimate learns to predict unknown quantities, such as the duration of a job or the number of future
// submissions, with models that people can read: sums of one curve for each feature and one map for each of a few pairs
// of features.
//
// The model is a generalised additive model with pairwise terms (Lou, Caruana, Gehrke: Intelligible Models for
// Classification and Regression, KDD 2012; Lou, Caruana, Gehrke, Hooker: Accurate Intelligible Models with Pairwise
// Interactions, KDD 2013). Features are cut into bins, and each term is boosted in turn by shallow trees on the
// residuals of the others, for squared error. A prediction is the sum of its terms, so it decomposes without remainder.
//
// # Design
//
// A model explains itself. cluster/estimate predicts by a sum of curves and maps over bins, and nothing else: the same
// numbers are shown, saved and added up. One loop over rows boosts all terms, of one feature or two; it reads only
// cells. Trees differ by term. Monotone constraints are applied after each step, so such a curve is monotone at every
// moment.
//
// No look-ahead. Tables of features are built in order of time: outcomes become known when jobs end. A test replaces
// the future and checks that no bit of an earlier estimate changes; for commands it replaces the future in the trace
// and compares the bytes of their output. Learning checks for cancellation before each tree: a model is complete, or an
// error.
//
// Independent of order and workers. Bags are drawn from rows in the order of a hash of their contents, and combined in
// bag order: neither the order of rows nor the number of workers changes a byte.
package estimate
