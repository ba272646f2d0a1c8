// Package doctor checks the machine: LibTorch, its libraries, and each device.
package doctor

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"graft/internal/files"
	"graft/torch"
	"graft/torch/sample"
)

// check defines a check of the machine. Its function look returns the finding or an error.
type check struct {
	name   string
	remedy string
	look   func(torch.Device) (string, error)
}

// machineChecks lists the checks that run once; deviceChecks run on each device. To add a check, add a line to one of
// them.
func machineChecks(fsys files.FS) []check {
	return []check{
		{"LibTorch opens", "run 'make library'", func(torch.Device) (string, error) { return opens() }},
		{"library and headers have the same version",
			"run 'make library' again: LibTorch changed since the library was built",
			func(torch.Device) (string, error) { return agrees() }},
		{"linear algebra is fast", "install libopenblas0-openmp", func(torch.Device) (string, error) {
			return algebra(fsys)
		}},
		{"only one OpenMP library is loaded", "unset LD_PRELOAD, or run 'make library' again",
			func(torch.Device) (string, error) { return oneOpenMP(fsys) }},
		{"exceptions of LibTorch become errors", "report this fault: this LibTorch behaves unexpectedly",
			func(torch.Device) (string, error) { return refuses() }},
	}
}

var deviceChecks = []check{
	{"a network learns on %s", "try another device or LibTorch; graft cannot train on this one", learns},
	{"the fast path matches PyTorch on %s", "set train.exact = true, and report this fault", fastAgrees},
}

// runChecks runs all checks. If the first one, LibTorch, fails, it is the only one.
func runChecks(fsys files.FS, devices []torch.Device) []checkResult {
	var results []checkResult
	for k, c := range machineChecks(fsys) {
		results = append(results, c.run(torch.CPU))
		if k == 0 && !results[0].Pass {
			return results
		}
	}
	for _, d := range devices {
		for _, c := range deviceChecks {
			c.name = fmt.Sprintf(c.name, d)
			results = append(results, c.run(d))
		}
	}
	return results
}

func (c check) run(d torch.Device) checkResult {
	detail, err := c.look(d)
	if err == nil {
		return checkResult{Check: c.name, Pass: true, Detail: detail}
	}
	result := checkResult{Check: c.name, Detail: err.Error(), Remedy: c.remedy}
	if known := new(torch.Error); errors.As(err, &known) && known.Remedy != "" {
		result.Remedy = known.Remedy
		result.Detail = strings.TrimSuffix(result.Detail, "; "+known.Remedy)
	}
	return result
}

func opens() (string, error) {
	if err := torch.Load(); err != nil {
		return "", err
	}
	return torch.LibraryPath(), nil
}

func agrees() (string, error) {
	r, err := torch.Describe()
	if err != nil {
		return "", err
	}
	if r.Version != r.CompiledFor && r.Version != "" {
		return "", fmt.Errorf("LibTorch is %s, but the library was built for %s", r.Version, r.CompiledFor)
	}
	return "both are " + r.CompiledFor, nil
}

// largestMaps limits the list of files mapped into a process, in bytes.
const largestMaps = 16 << 20

// mappedFiles lists the files mapped into this process; only Linux has the list.
func mappedFiles(fsys files.FS) ([]byte, error) {
	return files.ReadAll(fsys, "/proc/self/maps", largestMaps)
}

// algebra searches the mapped files for the reference BLAS, Debian's fallback, which is many times slower than others,
// and for the OpenBLAS that does not use LibTorch's threads.
func algebra(fsys files.FS) (string, error) {
	mapped, err := mappedFiles(fsys)
	if err != nil {
		return "unknown on this system", nil
	}
	switch text := string(mapped); {
	case strings.Contains(text, "openblas-pthread"):
		return "OpenBLAS, with linear layers on one thread; install libopenblas0-openmp for several", nil
	case strings.Contains(text, "openblas"):
		return "OpenBLAS", nil
	case strings.Contains(text, "/blas/libblas.so"):
		return "", errors.New("LibTorch uses the reference BLAS, which is slow")
	default:
		return "LibTorch's own", nil
	}
}

// oneOpenMP searches the mapped files for a second OpenMP: each has its own threads, and only one respects the
// configured number.
func oneOpenMP(fsys files.FS) (string, error) {
	mapped, err := mappedFiles(fsys)
	if err != nil {
		return "unknown on this system", nil
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(mapped)) {
		if at := strings.Index(line, "/"); at >= 0 && strings.Contains(line, "/libgomp") {
			found[strings.TrimSpace(line[at:])] = true
		}
	}
	if len(found) > 1 {
		return "", fmt.Errorf("found %d OpenMP libraries, expected 1: %s", len(found),
			strings.Join(slices.Sorted(maps.Keys(found)), ", "))
	}
	return strings.Join(slices.Collect(maps.Keys(found)), ""), nil
}

func refuses() (string, error) {
	err := torch.With(func(s *torch.Scope) error {
		s.MM(s.Zeros(torch.Float32, torch.CPU, 2, 3), s.Zeros(torch.Float32, torch.CPU, 2, 3))
		return nil
	})
	if !errors.Is(err, torch.ErrShape) {
		return "", fmt.Errorf("multiplying matrices of mismatched shapes returned %v; expected a shape error", err)
	}
	return "rejected mismatched shapes", nil
}

// doctorSteps is the number of steps that shows whether training works.
const doctorSteps = 12

// trainProbe runs a few steps and returns the losses.
func trainProbe(d torch.Device, fast bool) ([]float64, error) {
	var losses []float64
	err := torch.With(func(s *torch.Scope) error {
		random := s.NewGenerator(torch.CPU, 1)
		network := sample.New(s, d, random)
		images, labels, err := sample.Stripes(s, d, random, doctorSteps*32)
		if err != nil {
			return err
		}
		program, optimizer := network.Program(torch.ProgramOptions{Fast: fast}), network.Adam(0.01, fast)
		if err := s.Err(); err != nil {
			return err
		}
		figures, err := torch.Train(program, optimizer, torch.Batches{Inputs: images, Labels: labels, Size: 32})
		losses = figures.Losses
		return err
	})
	return losses, err
}

func learns(d torch.Device) (string, error) {
	losses, err := trainProbe(d, false)
	if err != nil {
		return "", err
	}
	first, last := losses[0], losses[len(losses)-1]
	if !(last < first) {
		return "", fmt.Errorf("the loss did not decrease: it changed from %.4f to %.4f in %d steps", first, last,
			doctorSteps)
	}
	return fmt.Sprintf("loss %.3f to %.3f in %d steps", first, last, doctorSteps), nil
}

// fastTolerance is the tolerance on losses after a few steps: rounding errors grow during training.
const fastTolerance = 1e-3

func fastAgrees(d torch.Device) (string, error) {
	exact, err := trainProbe(d, false)
	if err != nil {
		return "", err
	}
	fast, err := trainProbe(d, true)
	if err != nil {
		return "", err
	}
	worst := 0.0
	for k := range exact {
		worst = math.Max(worst, math.Abs(exact[k]-fast[k])/exact[k])
	}
	if !(worst < fastTolerance) {
		return "", fmt.Errorf("losses of the fast path have a relative error of %.1e; expected less than %.0e", worst,
			fastTolerance)
	}
	return fmt.Sprintf("losses have a relative error of at most %.0e", worst), nil
}
