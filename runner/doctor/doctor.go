package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"graft/internal/files"
	"graft/internal/telemetry"
	"graft/runner/app"
	"graft/torch"
)

// Report describes the machine and the results of the checks; `graft doctor --json` prints it.
type Report struct {
	Healthy  bool              `json:"healthy"`  // every check passed
	LibTorch *Libtorch         `json:"libtorch"` // LibTorch in use; null if it could not be opened
	Devices  []string          `json:"devices"`  // names of devices that can hold tensors
	Machine  machine           `json:"machine"`  // description of the machine
	GPUs     []telemetry.State `json:"gpus"`     // GPUs of the machine by NVML, with a reading; empty if there are none
	Checks   []checkResult     `json:"checks"`   // results of all checks
}

// Libtorch describes the LibTorch in use and its origin.
type Libtorch struct {
	torch.Runtime
	Origin string `json:"origin"` // "Debian", the folder for which graft was built, or "unknown"
}

type machine struct {
	OS         string `json:"os"`          // GOOS of the system
	Arch       string `json:"arch"`        // GOARCH of the processor
	Processors int    `json:"processors"`  // processors available to this process
	WaitPolicy string `json:"wait_policy"` // wait policy of OpenMP's threads
}

// checkResult is the result of one check.
type checkResult struct {
	Check  string `json:"check"`            // name of the check
	Pass   bool   `json:"pass"`             // the check passed
	Detail string `json:"detail"`           // finding or error
	Remedy string `json:"remedy,omitempty"` // remedy; empty if the check passed
}

// Examine checks the machine and returns the report.
func Examine(env *app.Env) Report {
	fsys := env.Files
	report := Report{Healthy: true, Devices: []string{}, GPUs: gpus(env), Machine: machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: torch.DefaultThreads(),
	}}
	if found, err := torch.Describe(); err == nil {
		report.LibTorch = &Libtorch{Runtime: found, Origin: origin(fsys, found.Library)}
	}
	report.Machine.WaitPolicy = waitPolicy()
	devices, _ := torch.Devices() // if this fails the first check reports it
	for _, d := range devices {
		report.Devices = append(report.Devices, d.String())
	}
	report.Checks = runChecks(fsys, devices)
	for _, c := range report.Checks {
		report.Healthy = report.Healthy && c.Pass
	}
	return report
}

// gpus reads the machine's GPUs once.
func gpus(env *app.Env) []telemetry.State {
	if env.Telemetry == nil {
		return []telemetry.State{}
	}
	source, err := env.Telemetry(true)
	if err != nil {
		return []telemetry.State{} // a machine without GPUs is whole
	}
	defer func() { _ = source.Close() }()
	return telemetry.ReadStates(source, env.Now)
}

// largestOrigin limits the file that the build writes next to the library, in bytes.
const largestOrigin = 1 << 16

// origin reads the origin of LibTorch from the file that the build wrote next to the library.
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

// unknown is the text for facts that the build did not record.
const unknown = "unknown"
