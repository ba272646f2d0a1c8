package costs

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
)

var update = flag.Bool("update", false, "fit the constants of the shipped hardware and write its files")

// fitted lists the constants that are fitted to iterations, and where the fit starts.
var fitted = []struct {
	start float64
	of    func(*Hardware) *float64
}{
	{1.4e12, func(h *Hardware) *float64 { return &h.Device.Bandwidth }},
	{50e-6, func(h *Hardware) *float64 { return &h.Device.Launch }},
	{20e-6, func(h *Hardware) *float64 { return &h.Link.Skew }},
	{0.5, func(h *Hardware) *float64 { return &h.Device.Unaligned }},
	{4, func(h *Hardware) *float64 { return &h.Device.Overlap }},
}

// tolerance is the relative error at which errors begin to count linearly instead of squared. Rows that the host's
// noise delays are outliers.
const tolerance = 0.05

// fitIterations returns the hardware with constants that minimise a robust sum of relative errors, the pseudo-Huber
// loss. It starts at the constants of h and follows Levenberg and Marquardt on the logarithms of constants and times
// (Marquardt, An algorithm for least-squares estimation of nonlinear parameters, 1963).
func fitIterations(t *testing.T, h Hardware, rows []row) Hardware {
	x := make([]float64, len(fitted))
	for k := range fitted {
		x[k] = math.Log(*fitted[k].of(&h))
	}
	damping := 1e-3
	off := misses(t, with(h, x), rows)
	for range 200 {
		step := marquardt(slopes(t, h, x, rows, off), off, damping)
		next := make([]float64, len(x))
		for k := range x {
			next[k] = x[k] + step[k]
		}
		changed := misses(t, with(h, next), rows)
		if loss(changed) >= loss(off) {
			if damping *= 4; damping > 1e6 {
				break
			}
			continue
		}
		small := loss(off)-loss(changed) < 1e-10*loss(off)
		x, off, damping = next, changed, damping/4
		if small {
			break
		}
	}
	return with(h, x)
}

// with returns the hardware with the constants whose logarithms are given.
func with(h Hardware, x []float64) Hardware {
	for k := range fitted {
		*fitted[k].of(&h) = math.Exp(x[k])
	}
	return h
}

// misses returns the logarithms of predicted over measured times.
func misses(t *testing.T, h Hardware, rows []row) []float64 {
	off := make([]float64, len(rows))
	for k := range rows {
		it, err := h.Iteration(rows[k].model, rows[k].plan)
		require.NoError(t, err)
		off[k] = math.Log(it.Seconds / rows[k].seconds)
	}
	return off
}

func loss(off []float64) (sum float64) {
	for _, e := range off {
		sum += math.Hypot(1, e/tolerance) - 1
	}
	return sum
}

// slopes returns the derivatives of the misses by the logarithm of each constant.
func slopes(t *testing.T, h Hardware, x []float64, rows []row, off []float64) [][]float64 {
	const small = 1e-4 // relative change of a constant
	by := make([][]float64, len(x))
	for k := range x {
		moved := append([]float64(nil), x...)
		moved[k] += small
		by[k] = misses(t, with(h, moved), rows)
		for i := range off {
			by[k][i] = (by[k][i] - off[i]) / small
		}
	}
	return by
}

// marquardt returns the damped step that solves the weighted normal equations.
func marquardt(by [][]float64, off []float64, damping float64) []float64 {
	n := len(by)
	a, b := make([][]float64, n), make([]float64, n)
	for j := range by {
		a[j] = make([]float64, n)
		for i, e := range off {
			weight := 1 / math.Hypot(1, e/tolerance)
			b[j] -= weight * by[j][i] * e
			for k := range by {
				a[j][k] += weight * by[j][i] * by[k][i]
			}
		}
	}
	for j := range a {
		a[j][j] *= 1 + damping
	}
	return eliminate(a, b)
}

// eliminate solves a system with a positive definite matrix by elimination without pivots.
func eliminate(a [][]float64, b []float64) []float64 {
	for j := range a {
		for i := j + 1; i < len(a); i++ {
			by := a[i][j] / a[j][j]
			for k := j; k < len(a); k++ {
				a[i][k] -= by * a[j][k]
			}
			b[i] -= by * b[j]
		}
	}
	for j := len(a) - 1; j >= 0; j-- {
		for k := j + 1; k < len(a); k++ {
			b[j] -= a[j][k] * b[k]
		}
		b[j] /= a[j][j]
	}
	return b
}

// noPass is the rate of the pass through memory if the fit finds no such pass.
const noPass = 1e15

// fitLink returns a link whose constants minimise the squared relative errors of all-reduces inside a server. Each
// octave of sizes has about the same weight, although the tables have most rows at large sizes.
func fitLink(link Link, all []sum) Link {
	var a [][]float64
	var b []float64
	for _, s := range all {
		n := float64(s.ranks)
		weight := math.Pow(s.bytes, -0.25) / s.seconds
		a = append(a, []float64{weight, 2 * (n - 1) * weight,
			2 * (n - 1) / n * s.bytes / link.rings(s.ranks) * weight, s.bytes * weight})
		b = append(b, math.Pow(s.bytes, -0.25))
	}
	x := stat.NonNegative(a, b)
	link.Start, link.Step, link.Rate, link.Reduce = x[0], x[1], 1/x[2], min(1/x[3], noPass)
	return link
}

// The shipped constants are the fit to the rows that may be fitted: nobody tuned them by hand. The V100 has tables of
// all-reduces only.
func TestShippedConstantsAreTheFit(t *testing.T) {
	fit, _ := singleRows(t)
	for _, name := range []string{"a100", "v100"} {
		shipped := onDisk(t, name)
		got := *shipped
		got.Link = fitLink(got.Link, sums(t, got.Name))
		if got.Name == "a100" {
			for _, f := range fitted {
				*f.of(&got) = f.start
			}
			got = fitIterations(t, got, fit)
		}
		got = rounded(got)
		if *update {
			writeHardware(t, &got)
			continue
		}
		for k, constant := range fittedOf(shipped) {
			require.InEpsilon(t, *constant, *fittedOf(&got)[k], 1e-3, "%s: run the test with -update", got.Name)
		}
	}
}

// fittedOf lists all fitted constants of hardware.
func fittedOf(h *Hardware) []*float64 {
	list := []*float64{&h.Link.Start, &h.Link.Step, &h.Link.Rate, &h.Link.Reduce}
	for k := range fitted {
		list = append(list, fitted[k].of(h))
	}
	return list
}

// onDisk reads the file of shipped hardware. The embedded copy is older if a test has just written the file.
func onDisk(t *testing.T, name string) *Hardware {
	path := filepath.Join("hardware", name+".toml")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	h, err := Parse(path, text)
	require.NoError(t, err)
	return h
}

// writeHardware rewrites the file of shipped hardware. Go runs the tests of this file before published_test.go, which
// writes the errors of the new constants.
func writeHardware(t *testing.T, h *Hardware) {
	path := filepath.Join("hardware", h.Name+".toml")
	require.NoError(t, os.WriteFile(path, []byte(Format(h)), 0o644))
}

// rounded returns the hardware with fitted constants of four digits.
func rounded(h Hardware) Hardware {
	for _, v := range fittedOf(&h) {
		scale := math.Pow(10, 3-math.Floor(math.Log10(*v)))
		*v = math.Round(*v*scale) / scale
	}
	return h
}
