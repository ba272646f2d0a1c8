// Package estimate learns what cannot be known beforehand, such as how long a job will
// take and how many will be submitted, by models that a person can read: sums of one
// curve for each feature and one map for each of a few pairs of features.
//
// The model is a generalised additive model with pairwise terms (Lou, Caruana, Gehrke:
// Intelligible Models for Classification and Regression, KDD 2012; Lou, Caruana, Gehrke,
// Hooker: Accurate Intelligible Models with Pairwise Interactions, KDD 2013). Features
// are cut into bins, and each term is boosted in its turn by shallow trees on what the
// others leave, for squared error. What it predicts is the sum of its terms, so that
// every prediction can be taken apart without rest.
//
// # Design
//
// A model explains itself. cluster/estimate predicts by a sum of curves and maps over bins, and nothing else:
// the same numbers are shown, saved and added up. One loop over rows boosts all terms, of one feature or two;
// it knows only cells. Trees differ by term. Monotone constraints are applied after each step, so such a curve
// is monotone at every moment.
//
// No look-ahead. Tables of features are built by going through time: what has ended is known, what has not is
// not. A test exchanges the future and checks that no bit of an earlier estimate changes; for commands it
// exchanges the future in the trace and compares the bytes of their output. Learning checks for cancellation
// before each tree: a model is complete, or an error.
//
// No order, no workers. Bags are drawn from rows in the order of a hash of their contents, and combined in
// their own order: neither the order of rows nor the number of workers changes a byte.
package estimate
