package estimate

import (
	"cmp"
	"math"
	"slices"
)

const (
	missingBin = 0              // rows without a value
	noBin      = math.MaxUint16 // a text that was not in the training data; it contributes nothing
)

// feature maps the values of a column to bins: missing values to bin 0, others to bins from 1 on.
type feature struct {
	name      string
	text      bool
	low, high float32   // of numbers: minimum and maximum in the training data
	edges     []float32 // of numbers: lower edges of the second and later bins, ascending
	levels    []string  // of texts: most frequent first
	own       int       // number of levels with their own bin; the others share the last bin
	index     map[string]uint16
}

func (f *feature) bins() int {
	if !f.text {
		return len(f.edges) + 2
	}
	return 1 + min(len(f.levels), f.own+1)
}

func (f *feature) bin(v Value) uint16 {
	if f.text {
		return f.textBin(v.Text)
	}
	return f.numberBin(float32(v.Number))
}

func (f *feature) textBin(text string) uint16 {
	if text == "" {
		return missingBin
	}
	if bin, ok := f.index[text]; ok {
		return bin
	}
	return noBin
}

func (f *feature) numberBin(v float32) uint16 {
	if isNaN(v) {
		return missingBin
	}
	low, high := 0, len(f.edges) // the first edge above v is between them
	for low < high {
		if mid := (low + high) / 2; f.edges[mid] <= v {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return uint16(low + 1)
}

func (f *feature) setIndex() {
	f.index = make(map[string]uint16, len(f.levels))
	for k, level := range f.levels {
		f.index[level] = uint16(1 + min(k, f.own))
	}
}

func (f *feature) column(c *column) []uint16 {
	bins := make([]uint16, c.rows())
	if !f.text {
		for row, v := range c.numbers {
			bins[row] = f.numberBin(v)
		}
		return bins
	}
	byCode := make([]uint16, len(c.levels))
	for code, level := range c.levels {
		byCode[code] = f.textBin(level)
	}
	for row, code := range c.codes {
		bins[row] = byCode[code]
	}
	return bins
}

func newFeature(c *column, o Options) feature {
	if c.isText() {
		return newTexts(c, o.Bins)
	}
	f := feature{name: c.name}
	values, counts := distinct(c.numbers)
	f.low, f.high = values[0], values[len(values)-1]
	if o.Binning == BinUniform && len(values) > o.Bins {
		f.edges = uniformEdges(values, o.Bins)
	} else {
		f.edges = quantileEdges(values, counts, o.Bins)
	}
	return f
}

// newTexts gives each text its own bin; if there are too many texts, rare ones share a bin.
func newTexts(c *column, bins int) feature {
	counts := make([]int, len(c.levels))
	for _, code := range c.codes {
		counts[code]++
	}
	var codes []int
	for code := 1; code < len(counts); code++ {
		if counts[code] > 0 {
			codes = append(codes, code)
		}
	}
	slices.SortFunc(codes, func(a, b int) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(c.levels[a], c.levels[b]))
	})
	f := feature{name: c.name, text: true, levels: pick(c.levels, codes), own: len(codes)}
	if len(codes) > bins {
		f.own = bins - 1
	}
	f.setIndex()
	return f
}

// distinct returns the values that are present, ascending, and their counts.
func distinct(numbers []float32) ([]float32, []int) {
	sorted := slices.DeleteFunc(slices.Clone(numbers), isNaN)
	slices.Sort(sorted)
	var values []float32
	var counts []int
	for _, v := range sorted {
		if len(values) == 0 || values[len(values)-1] != v {
			values, counts = append(values, v), append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return values, counts
}

// quantileEdges fills one bin after another with its share of the remaining rows. Rows with equal values stay together.
// If there are few values, each has its own bin.
func quantileEdges(values []float32, counts []int, bins int) []float32 {
	var edges []float32
	left := 0
	for _, n := range counts {
		left += n
	}
	held := 0
	for k := 1; k < len(values); k++ {
		held += counts[k-1]
		room := bins - len(edges) // bins that are not closed
		switch {
		case room == 1:
			return edges
		case len(values) > bins && float64(held)+float64(counts[k])/2 < float64(left)/float64(room):
			continue
		}
		edges = append(edges, between(values[k-1], values[k]))
		left, held = left-held, 0
	}
	return edges
}

// uniformEdges returns edges of equal distance, without edges that separate no values.
func uniformEdges(values []float32, bins int) []float32 {
	low, high := float64(values[0]), float64(values[len(values)-1])
	var edges []float32
	below := 0 // number of values below the last edge
	for k := 1; k < bins; k++ {
		edge := float32(low + (high-low)*float64(k)/float64(bins))
		under, _ := slices.BinarySearch(values, edge)
		if under > below && under < len(values) {
			edges, below = append(edges, edge), under
		}
	}
	return edges
}

// between returns a float32 above low and at most high, the midpoint if possible.
func between(low, high float32) float32 {
	mid := float32((float64(low) + float64(high)) / 2)
	if mid > low {
		return mid
	}
	return high
}

// coarse joins neighbouring bins into at most n groups with about equal numbers of rows. Groups are numbered in the
// order of bins. The missing bin is group 0, with or without rows.
func coarse(order []int, weights []float64, n int) []uint16 {
	groups := make([]uint16, len(weights))
	left := 0.0
	for _, bin := range order {
		left += weights[bin]
	}
	group, held := 1, 0.0
	for k, bin := range order {
		room := float64(n - group + 1)
		if k > 0 && group < n && (len(order) <= n || held+weights[bin]/2 >= left/room) {
			group, left, held = group+1, left-held, 0
		}
		groups[bin] = uint16(group)
		held += weights[bin]
	}
	return groups
}
