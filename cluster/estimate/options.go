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

// How features are cut into bins.
const (
	BinQuantile = "quantile" // about as many rows in each
	BinUniform  = "uniform"  // of equal width
)

// Which rows say when to stop.
const (
	ValidateRandom = "random" // a share of its own for each bag, drawn by the seed
	ValidateBlocks = "blocks" // likewise, but in runs of rows: neighbours that are alike stay together
	ValidateLast   = "last"   // the last rows; the model then learns from them as well
)

// What is learned of the target.
const (
	TargetPlain  = "plain"  // its mean
	TargetLog    = "log"    // its mean, from what log(1 + target) is (Duan 1983)
	TargetMedian = "median" // its median, from what log(1 + target) is
)

const (
	mostBins     = 1024
	mostPairBins = 64
	mostBags     = 1000
	mostRounds   = 1 << 20
)

// Options say how a model learns. The zero value is a good start.
type Options struct {
	Bins     int    // most bins of a feature without the missing one, at most 1024; zero means 256
	Binning  string // empty means quantile
	Pairs    int    // terms of two features; zero means 10, below zero none
	PairBins int    // most bins of each feature of a pair, at most 64; zero means 32

	LearningRate float64 // share of each tree that is taken; zero means 0.05
	Rounds       int     // most trees of each term; zero means 2,000
	Leaves       int     // of each tree of one feature; zero means 3
	LeastRows    int     // in each leaf; zero means 20

	// number of models, each of most of the rows, that are averaged; how far they differ is the deviation
	// of a shape. Zero means 8.
	Bags            int
	Validation      string  // empty means random; the others take rows to be in order of time
	ValidationShare float64 // of the rows, below a half; zero means 0.15
	Patience        int     // rounds without a better validation after which a bag stops; zero means 50

	Target string // empty means plain; the others take targets that are not negative
	// Monotone has features of numbers whose shape may only rise (1) or fall (-1). They
	// are left out of pairs, so that the whole prediction does. Nil means none.
	Monotone map[string]int
	// Alone has features that are in no pair: one that only grows, such as a date, has in
	// what is predicted values that no pair has seen. Names that the table does not have do
	// no harm. Nil means none.
	Alone []string

	Seed    uint64 // of the rows of bags; zero is a seed like any other
	Workers int    // bags at once, which changes no bit of a model; zero means all processors
}

// EnsureDefaults fills in what zero stands for.
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

// Validate lists all that is wrong.
func (o Options) Validate() error {
	var faults validate.Faults
	for _, v := range []struct {
		name               string
		value, least, most int
	}{{"bins", o.Bins, 2, mostBins}, {"pair_bins", o.PairBins, 2, mostPairBins}, {"rounds", o.Rounds, 1, mostRounds},
		{"leaves", o.Leaves, 2, mostBins}, {"least_rows", o.LeastRows, 1, math.MaxInt32}, {"bags", o.Bags, 1, mostBags},
		{"patience", o.Patience, 1, mostRounds}, {"workers", o.Workers, 1, math.MaxInt32}} {
		faults.When(v.value < v.least || v.value > v.most, "%s is %d; it lies between %d and %d", v.name, v.value,
			v.least, v.most)
	}
	for _, v := range []struct {
		name, value string
		known       []string
	}{{"binning", o.Binning, []string{BinQuantile, BinUniform}},
		{"validation", o.Validation, []string{ValidateRandom, ValidateBlocks, ValidateLast}},
		{"target", o.Target, []string{TargetPlain, TargetLog, TargetMedian}}} {
		faults.When(!slices.Contains(v.known, v.value), "%s is %q; there are %q", v.name, v.value, v.known)
	}
	faults.When(!(o.LearningRate > 0 && o.LearningRate <= 1), "learning_rate is %v; it is above 0 and at most 1",
		o.LearningRate)
	faults.When(!(o.ValidationShare > 0 && o.ValidationShare < 0.5),
		"validation_share is %v; it lies between 0 and 0.5", o.ValidationShare)
	for _, name := range slices.Sorted(maps.Keys(o.Monotone)) {
		way := o.Monotone[name]
		faults.When(way != 1 && way != -1, "monotone %s is %d; 1 rises and -1 falls", name, way)
	}
	return errors.Join(faults...)
}
