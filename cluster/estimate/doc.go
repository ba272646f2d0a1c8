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
package estimate
