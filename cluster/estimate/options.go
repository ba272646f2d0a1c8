package estimate

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"

	"graft/internal/validate"
)

// Methods to cut features into bins.
const (
	BinQuantile = "quantile" // bins with about the same number of rows
	BinUniform  = "uniform"  // bins with the same width
)

// Choices of the validation rows, which determine when learning stops.
const (
	ValidateRandom = "random" // a separate random share for each bag, drawn by the seed
	ValidateBlocks = "blocks" // random runs of consecutive rows, so that similar neighbours stay together
	ValidateLast   = "last"   // the last rows; the final model also learns from them
)

// Statistics of the target that a model predicts.
const (
	TargetPlain  = "plain"  // mean
	TargetLog    = "log"    // mean, learned from log(1 + target) (Duan 1983)
	TargetMedian = "median" // median, learned from log(1 + target)
)

const (
	mostBins     = 1024
	mostPairBins = 64
	mostBags     = 1000
	mostRounds   = 1 << 20
)

// Options holds the training options of a [Model]. Zero values mean the defaults.
type Options struct {
	// maximum number of bins per feature, not counting the bin of missing values, at most 1024; zero means 256
	Bins     int
	Binning  string // method to divide features into bins; empty means quantile
	Pairs    int    // number of terms with two features; zero means 10, a negative value means none
	PairBins int    // maximum number of bins per feature of a pair, at most 64; zero means 32

	LearningRate float64 // learning rate: fraction of each tree that is added; zero means 0.05
	Rounds       int     // maximum number of trees per term; zero means 2,000
	Leaves       int     // number of leaves per tree of one feature; zero means 3
	LeastRows    int     // minimum number of rows per leaf; zero means 20

	// number of models to average, each trained on most of the rows; each reported contribution has its standard
	// deviation over these models; zero means 8
	Bags int
	// method that chooses the validation rows; empty means ValidateRandom; the other methods need rows sorted by time
	Validation      string
	ValidationShare float64 // fraction of the rows for validation, below 0.5; zero means 0.15
	// number of rounds without improvement of the validation error after which the training of a bag stops; zero means
	// 50
	Patience int

	// statistic of the target to predict, such as TargetMedian; empty means TargetPlain; the other statistics need
	// nonnegative targets
	Target string
	// Monotone maps numeric features to the required direction of their curve: 1 for rising, -1 for falling. Monotone
	// features are excluded from pairs, so that the whole prediction is monotone in them. Nil means none.
	Monotone map[string]int
	// Alone lists the features that are excluded from pairs. Exclude dates, for example: dates at prediction time are
	// later than all dates in the training data. Unknown names are ignored. Nil means none.
	Alone []string

	Seed uint64 // seed that draws the rows of the bags; zero is a valid seed
	// number of bags learned in parallel, without effect on the model; zero means one per processor
	Workers int
}

// EnsureDefaults replaces zero values with defaults.
func (o *Options) EnsureDefaults() {
	o.Bins, o.Binning = cmp.Or(o.Bins, 256), cmp.Or(o.Binning, BinQuantile)
	o.Pairs, o.PairBins = cmp.Or(o.Pairs, 10), cmp.Or(o.PairBins, 32)
	o.LearningRate, o.Rounds = cmp.Or(o.LearningRate, 0.05), cmp.Or(o.Rounds, 2000)
	o.Leaves, o.LeastRows = cmp.Or(o.Leaves, 3), cmp.Or(o.LeastRows, 20)
	o.Bags, o.Patience = cmp.Or(o.Bags, 8), cmp.Or(o.Patience, 50)
	o.Validation, o.ValidationShare = cmp.Or(o.Validation, ValidateRandom), cmp.Or(o.ValidationShare, 0.15)
	o.Target = cmp.Or(o.Target, TargetPlain)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	for _, v := range []struct {
		name               string
		value, least, most int
	}{{"bins", o.Bins, 2, mostBins}, {"pair_bins", o.PairBins, 2, mostPairBins}, {"rounds", o.Rounds, 1, mostRounds},
		{"leaves", o.Leaves, 2, mostBins}, {"least_rows", o.LeastRows, 1, math.MaxInt32}, {"bags", o.Bags, 1, mostBags},
		{"patience", o.Patience, 1, mostRounds}, {"workers", o.Workers, 1, math.MaxInt32}} {
		faults.When(v.value < v.least || v.value > v.most, "%s is %d; must be between %d and %d", v.name, v.value,
			v.least, v.most)
	}
	for _, v := range []struct {
		name, value string
		known       []string
	}{{"binning", o.Binning, []string{BinQuantile, BinUniform}},
		{"validation", o.Validation, []string{ValidateRandom, ValidateBlocks, ValidateLast}},
		{"target", o.Target, []string{TargetPlain, TargetLog, TargetMedian}}} {
		faults.When(!slices.Contains(v.known, v.value), "%s is %q; expected one of: %q", v.name, v.value, v.known)
	}
	faults.When(!(o.LearningRate > 0 && o.LearningRate <= 1), "learning_rate is %v; must be more than 0 and at most 1",
		o.LearningRate)
	faults.When(!(o.ValidationShare > 0 && o.ValidationShare < 0.5),
		"validation_share is %v; must be between 0 and 0.5", o.ValidationShare)
	for _, name := range slices.Sorted(maps.Keys(o.Monotone)) {
		way := o.Monotone[name]
		faults.When(way != 1 && way != -1, "monotone %s is %d; expected 1 (increasing) or -1 (decreasing)", name, way)
	}
	return errors.Join(faults...)
}
