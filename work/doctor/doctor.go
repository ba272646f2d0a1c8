package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"graft/files"
	"graft/torch"
)

// Report is what `graft doctor --json` prints.
type Report struct {
	Healthy  bool          `json:"healthy"`  // whether every check passed
	LibTorch *Libtorch     `json:"libtorch"` // null where none could be opened
	Devices  []string      `json:"devices"`  // that tensors can be on
	Machine  machine       `json:"machine"`  // what graft runs on
	Checks   []checkResult `json:"checks"`   // what was tried
}

// Libtorch is the LibTorch in use and where it came from.
type Libtorch struct {
	torch.Runtime
	Origin string `json:"origin"` // "Debian", the folder it was built against, or "unknown"
}

type machine struct {
	OS         string `json:"os"`          // the system, as Go names it
	Arch       string `json:"arch"`        // the processor, as Go names it
	Processors int    `json:"processors"`  // that this process may use
	WaitPolicy string `json:"wait_policy"` // how OpenMP's threads wait for work
}

// checkResult is one line of the doctor's table.
type checkResult struct {
	Check  string `json:"check"`            // what was looked at
	Pass   bool   `json:"pass"`             // whether it works
	Detail string `json:"detail"`           // what was found
	Remedy string `json:"remedy,omitempty"` // what to do about it; empty where it works
}

// Examine looks the machine over.
func Examine(fsys files.FS) Report {
	report := Report{Healthy: true, Devices: []string{}, Machine: machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: torch.DefaultThreads(),
	}}
	if found, err := torch.Describe(); err == nil {
		report.LibTorch = &Libtorch{Runtime: found, Origin: origin(fsys, found.Library)}
	}
	report.Machine.WaitPolicy = waitPolicy()
	devices, _ := torch.Devices() // where this fails the first check says why
	for _, d := range devices {
		report.Devices = append(report.Devices, d.String())
	}
	report.Checks = runChecks(fsys, devices)
	for _, c := range report.Checks {
		report.Healthy = report.Healthy && c.Pass
	}
	return report
}

// largestOrigin is above the size of the file that the build writes, in bytes.
const largestOrigin = 1 << 16

// origin reads what the build wrote beside the library.
func origin(fsys files.FS, library string) string {
	data, err := files.ReadAll(fsys, filepath.Join(filepath.Dir(library), "origin"), largestOrigin)
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(data)) {
		if from, ok := strings.CutPrefix(strings.TrimSpace(line), "libtorch="); ok {
			return from
		}
	}
	return unknown
}

func waitPolicy() string {
	if policy := os.Getenv("OMP_WAIT_POLICY"); policy != "" {
		return policy
	}
	if spins := os.Getenv("GOMP_SPINCOUNT"); spins != "" {
		return "spin " + spins + " times"
	}
	return torch.WaitPolicy
}

// unknown stands for a fact that the build did not record.
const unknown = "unknown"
