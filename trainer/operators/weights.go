package operators

import (
	"math"
	"strings"
)

// family is a group of operators whose times depend on their sizes in about the same way.
type family int

const (
	others family = iota
	convolutions
	groupedConvolutions
	linears
	norms
	attentions
	conversions // of images to the network's input
	families    // number of families
)

// familyOf returns the family of an operator.
func familyOf(name string) family {
	switch {
	case strings.HasPrefix(name, "conv") && strings.Contains(name, grouped):
		return groupedConvolutions
	case strings.HasPrefix(name, "conv"):
		return convolutions
	case strings.HasPrefix(name, "linear"):
		return linears
	case strings.HasPrefix(name, norming):
		return norms
	case strings.HasPrefix(name, attending):
		return attentions
	case strings.HasPrefix(name, converting):
		return conversions
	}
	return others
}

// weights scale the coordinates of points: the larger a weight, the sooner the factors of two points differ along this
// coordinate. Noise is the relative error of a measured time.
type weights struct {
	of    point
	noise float64
}

// weightsOf holds the weights of each family, in the order of the coordinates. A coordinate with weight 0 is not used.
// TestWeightsAreSearched finds weights with smaller errors for measured networks that are predicted from the others.
// Its weights are used for families whose errors fall by a tenth or more; other gains may not hold on other devices.
// The weights of fewPixels and aliasing were set by hand, so that kernels with other rates are far apart.
var weightsOf = [families]weights{
	others:              {point{.25, .25, .25, .25, .25, .25, .25, .125, .75, .3, .3, 0, 0, .8}, .1},
	convolutions:        {point{.25, 1.3, .25, .33, .25, 1.3, .12, .12, .75, .3, .2, .5, 2, .8, 1.3, .3}, .1},
	groupedConvolutions: {point{.38, .25, .11, .75, .17, 1.3, .12, .056, .75, .3, .2, .5, 2, .24, 0, .3}, .067},
	linears:             {point{.25, .25, .25, .25, .25, .25, .25, .125, .75, .3, .3, 0, 0, .8}, .1},
	norms:               {point{.25, .25, .25, .25, .25, .25, .25, .125, .75, .65, .65, 0, 0, .8}, .1},
	attentions:          {point{.11, .11, .25, .38, .25, 0, .25, .12, 1.7, 0, 0, 0, 0, 1.8}, .1},
	conversions:         {point{.25, .25, 1, .25, .25, .25, .25, .125, .75, 0, 0, 0, 0, .8}, .1},
}

// Coordinates after the sizes.
const (
	blocks    = len(sizes{}) // blocks of the channels that are read and of the result
	excess    = blocks + 2   // how much the kernel of a convolution is larger than the image
	fewness   = blocks + 3   // whether a convolution has few examples
	relation  = blocks + 4   // whether another operator was measured
	fewPixels = blocks + 5   // pixels of an image, for convolutions with few examples
	aliasing  = blocks + 6   // how few sets of a cache the weight of a convolution with excess uses
	// dimensions is the number of coordinates of a point.
	dimensions = blocks + 7
)

// point holds the weighted coordinates of sizes.
type point [dimensions]float64

// Indices in the sizes of a convolution.
const (
	placesSize = 0
	outSize    = 2
	areaSize   = 3
	strideSize = 5
	rowsSize   = 6
)

// On one thread, LibTorch computes convolutions of one tap by another kernel if a batch has fewer examples than fewRows
// (ConvParams::use_mkldnn, ATen/native/Convolution.cpp).
const fewRows = 16

// The other kernel multiplies a matrix with the pixels of each example. Its rate depends on their number up to
// manyPixels.
const manyPixels = 64

// pointOf returns the coordinates of sizes. Sizes are logarithms. The blocks tell whether channels are multiples of 16,
// of 8, of 4, or others, because kernels for vector instructions process such blocks. Most of these kernels cannot
// compute convolutions whose kernel is larger than the image; the excess is the logarithm of the ratio of their areas.
// The relation is 1 for measurements of a related operator.
func pointOf(name string, s sizes, related bool) (p point) {
	of := familyOf(name)
	for k, n := range s {
		p[k] = math.Log(float64(max(n, 1)))
	}
	for k, n := range blockedSizes(of, s) {
		p[blocks+k] = blockOf(n)
	}
	if of == convolutions || of == groupedConvolutions {
		if most := s[areaSize] * s[rowsSize]; most > s[placesSize] && s[placesSize] > 0 {
			p[excess] = math.Log(float64(most) / float64(s[placesSize]))
			p[aliasing] = aliasingOf(s[outSize])
		}
		if s[areaSize] == 1 && s[strideSize] == 1 && s[rowsSize] < fewRows {
			p[fewness] = 1
			p[fewPixels] = math.Log(float64(min(max(s[placesSize]/max(s[rowsSize], 1), 1), manyPixels)))
		}
	}
	if related {
		p[relation] = 1
	}
	for k, w := range weightsOf[of].of {
		p[k] *= w
	}
	return p
}

// blockedSizes returns the channels on whose divisibility the time depends.
func blockedSizes(of family, s sizes) [2]int {
	switch of {
	case convolutions, groupedConvolutions:
		return [2]int{s[1], s[2]}
	case norms:
		return [2]int{s[1], 0}
	}
	return [2]int{}
}

// aliasingOf tells how few of a cache's sets the values in a column of a matrix with rows of n values use, because
// their distances are multiples of a power of two: 0 for up to 128 values, 1 for 256, 2 for 512 and 3 for more.
func aliasingOf(n int) float64 {
	return math.Log2(float64(min(max(n&-n, 128), 1024)) / 128)
}

// blockOf is 0 for multiples of 16, 1 for other multiples of 8, 2 for other multiples of 4, and 3 for other numbers.
func blockOf(n int) float64 {
	for k, block := range []int{16, 8, 4} {
		if n%block == 0 {
			return float64(k)
		}
	}
	return 3
}
