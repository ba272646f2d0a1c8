// Package estimate learns to predict unknown quantities, such as the duration of a job or the number of future
// submissions, with models that people can read: sums with one curve for each feature and one map for each of a few
// feature pairs.
//
// The model is a generalised additive model with pairwise terms (Lou, Caruana, Gehrke: Intelligible Models for
// Classification and Regression, KDD 2012; Lou, Caruana, Gehrke, Hooker: Accurate Intelligible Models with Pairwise
// Interactions, KDD 2013). Features are divided into bins. Each term is boosted in turn by shallow trees that fit the
// residuals of the other terms, with squared error as loss. A prediction is the sum of its terms, so it decomposes
// exactly.
//
// # Design
//
// A model explains itself. cluster/estimate predicts only by a sum of curves and maps over bins, so the numbers that
// are shown and saved are the numbers that are added up. One loop over rows boosts all terms, of one feature or of
// two features; it reads only cells. The trees differ between terms. Monotone constraints are applied after each
// step, so such a curve is monotone at every moment.
//
// No look-ahead. Tables of features are built in order of time: outcomes become known when jobs end. A test replaces
// the future and checks that no bit of an earlier estimate changes. For commands, the test replaces the future in the
// trace and compares the output byte by byte. Learning checks for cancellation before each tree: it returns a
// complete model or an error.
//
// Independent of order and workers. Bags are drawn from rows in the order of a hash of their contents, and combined
// in bag order: neither the order of rows nor the number of workers changes the result.
package estimate
