package fleet

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"graft/internal/validate"
)

// maxWorkers limits the workers of a batch.
const maxWorkers = 100_000

var (
	keyPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	wordPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:._,=&|*@()\[\]+-]*$`)
)

// Batch describes the workers of one program. Each worker reads its number (counted from 0) from the variable
// GRAFT_WORKER, its number of processors from GRAFT_THREADS and, if it has a device, the device from GRAFT_DEVICE. A
// worker exits with 0 when no task is left, and with 75 to request a restart. After SIGUSR1 or SIGTERM, a worker must
// exit promptly.
type Batch struct {
	// Key identifies the batch among all batches of the user. If a batch with the same key is live, that batch
	// continues and no second batch starts.
	Key string `json:"key"`
	// Folder is the path of the folder with the journal and the logs. The path must be absolute and valid on all
	// machines.
	Folder string `json:"folder"`
	// Argv is the command line: the program and its arguments.
	Argv []string `json:"argv"`
	// Dir is the working directory of the workers. Empty means Folder.
	Dir string `json:"dir,omitempty"`
	// Env adds variables, as NAME=VALUE, to the inherited environment.
	Env []string `json:"env,omitempty"`
	// Workers is the number of workers; at least one.
	Workers int `json:"workers"`
	// Only lists the numbers of the workers to start now. Nil means all workers.
	Only []int `json:"only,omitempty"`
	// Resources holds the resources of each worker.
	Resources Resources `json:"resources"`
}

// Resources holds the resources of a worker. The zero value selects the engine's defaults. An engine rejects a resource
// that it does not support.
type Resources struct {
	// CPUs is the number of processors. Zero means the engine's default; for local workers it is an equal share of the
	// machine.
	CPUs int `json:"cpus,omitempty"`
	// MemoryMB is the memory in MiB. Zero means the engine's default.
	MemoryMB int `json:"memory_mb,omitempty"`
	// GPUs is the number of GPUs. Zero means none.
	GPUs int `json:"gpus,omitempty"`
	// Devices lists the devices of this machine, such as cuda:0, that are assigned to local workers in turn. Several
	// workers can share a device. If the list is nil, the program that a worker runs chooses its device.
	Devices []string `json:"devices,omitempty"`
	// Time is the time limit of a worker. Zero means the engine's default. Slurm rounds the limit up to minutes.
	Time time.Duration `json:"time,omitempty"`
	// Lead is the time before the time limit at which Slurm sends SIGUSR1. Zero means one minute, or half of Time if
	// that is less.
	Lead time.Duration `json:"lead,omitempty"`
	// Partition, Account, QOS and Constraint are options of Slurm. Empty means Slurm's default.
	Partition  string `json:"partition,omitempty"`
	Account    string `json:"account,omitempty"`    // Slurm's account; empty means Slurm's default
	QOS        string `json:"qos,omitempty"`        // Slurm's quality of service; empty means Slurm's default
	Constraint string `json:"constraint,omitempty"` // feature that Slurm nodes must have; empty means none
	// Gres is the generic resource that each worker requests from Slurm, such as gpu:a100:1. Gres cannot be combined
	// with GPUs.
	Gres string `json:"gres,omitempty"`
	// Extra has additional options of sbatch, written as --name=value.
	Extra []string `json:"extra,omitempty"`
}

// Validate returns an error that lists every invalid field of a batch. It does not check what depends on the engine.
func (b Batch) Validate() error {
	var faults validate.Faults
	faults.When(!keyPattern.MatchString(b.Key),
		"key is %q; expected 1 to 100 letters, digits, '.', '_' and '-', starting with a letter or digit", b.Key)
	faults.When(!filepath.IsAbs(b.Folder), "folder is %q; expected an absolute path that is valid on all "+
		"worker machines", b.Folder)
	faults.When(b.Dir != "" && !filepath.IsAbs(b.Dir), "dir is %q; expected an absolute path", b.Dir)
	faults.When(b.Workers < 1 || b.Workers > maxWorkers, "workers is %d; must be from 1 to %d",
		b.Workers, maxWorkers)
	faults.When(len(b.Argv) == 0 || b.Argv[0] == "", "argv is empty; expected a program")
	for _, text := range slices.Concat(b.Argv, b.Env, []string{b.Folder, b.Dir}) {
		faults.When(strings.ContainsRune(text, 0) || !utf8.ValidString(text),
			"argv, env, folder and dir must be valid UTF-8 without NUL bytes, got %q",
			text)
	}
	faults.When(strings.ContainsAny(b.Folder+b.Dir, "\n\r"), "folder is %q and dir is %q; expected paths without "+
		"line breaks",
		b.Folder, b.Dir)
	for _, env := range b.Env {
		name, _, found := strings.Cut(env, "=")
		faults.When(!found || !namePattern.MatchString(name), "env: invalid variable %q; expected NAME=VALUE", env)
	}
	for _, worker := range b.Only {
		faults.When(worker < 0 || worker >= b.Workers, "only: unknown worker %d; expected 0 to %d", worker,
			b.Workers-1)
	}
	return errors.Join(append(faults, b.Resources.validate())...)
}

func (r Resources) validate() error {
	var faults validate.Faults
	for name, n := range map[string]int{"cpus": r.CPUs, "memory_mb": r.MemoryMB, "gpus": r.GPUs} {
		faults.When(n < 0, "%s is %d; must be at least 0", name, n)
	}
	faults.When(r.Time < 0 || r.Lead < 0 || r.Lead > 0 && r.Lead >= r.Time,
		"time_limit is %v and lead is %v; both must be at least 0, and lead must be shorter than time_limit",
		r.Time, r.Lead)
	faults.When(r.Lead > mostLead, "lead is %v; the maximum of Slurm is %v", r.Lead, mostLead)
	for name, word := range r.words() {
		faults.When(word != "" && !wordPattern.MatchString(word), "%s is %q; expected a name without spaces",
			name, word)
	}
	faults.When(r.Gres != "" && r.GPUs > 0, "gres and gpus are mutually exclusive; remove one of them")
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

// mostLead is the longest time before a time limit at which Slurm signals a job, the limit of sig_time in the manual of
// sbatch.
const mostLead = 65535 * time.Second

// words are the options that only Slurm supports.
func (r Resources) words() map[string]string {
	return map[string]string{"partition": r.Partition, "account": r.Account, "qos": r.QOS, "constraint": r.Constraint,
		"gres": r.Gres}
}

// foreign returns an error for each option that only Slurm supports.
func (r Resources) foreign(engine string) error {
	var faults validate.Faults
	for name, word := range r.words() {
		faults.When(word != "", "%s is set, but only Slurm supports it; remove it for %s", name, engine)
	}
	faults.When(len(r.Extra) > 0, "extra is set, but only Slurm supports it; remove it for %s", engine)
	faults.When(r.Lead > 0, "lead is set, but only Slurm supports it; remove it for %s", engine)
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

// chosen returns the workers to start.
func (b Batch) chosen() []int {
	if b.Only != nil {
		return b.Only
	}
	all := make([]int, b.Workers)
	for k := range all {
		all[k] = k
	}
	return all
}

func (b Batch) dir() string {
	if b.Dir == "" {
		return b.Folder
	}
	return b.Dir
}

// logsName is the folder of worker logs.
const logsName = "logs"

// LogPath returns the path of a worker's log. A restarted worker appends to its log.
func LogPath(folder string, worker int) string {
	return filepath.Join(folder, logsName, fmt.Sprintf("worker-%d.log", worker))
}
