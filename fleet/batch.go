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
)

// mostWorkers bounds a batch.
const mostWorkers = 100_000

var (
	keyPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	wordPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:._,=&|*@()\[\]+-]*$`)
)

// Batch is a number of workers of one program. The program is told by the variable
// GRAFT_WORKER which of them it is, from 0, by GRAFT_THREADS how many processors it may
// use, and by GRAFT_DEVICE where it computes, if that is known. It ends with 0 when no
// task is left, and with 75 when it wants to be started again; on SIGUSR1 and SIGTERM it
// has to hurry up.
type Batch struct {
	// Key names the batch among all of the user's: a live batch of that key is found
	// again in place of starting another.
	Key string `json:"key"`
	// Folder is where journal and logs go, as an absolute path that means the same on
	// all machines.
	Folder string `json:"folder"`
	// Argv are the program and its arguments.
	Argv []string `json:"argv"`
	// Dir is the workers' current folder; empty is Folder.
	Dir string `json:"dir,omitempty"`
	// Env are variables, as NAME=VALUE, besides those that workers inherit.
	Env []string `json:"env,omitempty"`
	// Workers is how many there are; at least one.
	Workers int `json:"workers"`
	// Only are those to be started now; nil is all.
	Only []int `json:"only,omitempty"`
	// Resources are what each worker gets.
	Resources Resources `json:"resources"`
}

// Resources are what a worker gets. The zero value leaves all to the engine. What an
// engine does not know it refuses.
type Resources struct {
	// CPUs is a number of processors; zero shares out what there is, or is the
	// engine's default.
	CPUs int `json:"cpus,omitempty"`
	// MemoryMB is memory in MiB; zero is the engine's default.
	MemoryMB int `json:"memory_mb,omitempty"`
	// GPUs is a number of GPUs; zero is none.
	GPUs int `json:"gpus,omitempty"`
	// Devices are those of this machine, such as cuda:0, dealt out to local workers in
	// turn; several may get the same. Nil leaves the choice to the program.
	Devices []string `json:"devices,omitempty"`
	// Time is after how long a worker is ended; zero is the engine's default. Slurm
	// counts in minutes and rounds up.
	Time time.Duration `json:"time,omitempty"`
	// Lead is how long before that Slurm warns with SIGUSR1; zero is a minute, or half
	// of Time where that is less.
	Lead time.Duration `json:"lead,omitempty"`
	// Partition, Account, QOS and Constraint are Slurm's; empty is its default.
	Partition  string `json:"partition,omitempty"`
	Account    string `json:"account,omitempty"`    // see Partition
	QOS        string `json:"qos,omitempty"`        // see Partition
	Constraint string `json:"constraint,omitempty"` // see Partition
	// Gres is what Slurm calls GPUs of a kind, such as gpu:a100:1. It takes the place of
	// GPUs.
	Gres string `json:"gres,omitempty"`
	// Extra are options of sbatch that graft does not know, as --name=value.
	Extra []string `json:"extra,omitempty"`
}

// Validate lists all that is wrong, whatever the engine.
func (b Batch) Validate() error {
	var faults []error
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(!keyPattern.MatchString(b.Key), "key is %q: use up to 100 letters, digits and . _ -, and a letter or digit first", b.Key)
	fault(!filepath.IsAbs(b.Folder), "folder is %q: name it from the root on, as workers elsewhere see it", b.Folder)
	fault(b.Dir != "" && !filepath.IsAbs(b.Dir), "dir is %q: name it from the root on", b.Dir)
	fault(b.Workers < 1 || b.Workers > mostWorkers, "workers is %d; there are at least 1 and at most %d", b.Workers, mostWorkers)
	fault(len(b.Argv) == 0 || b.Argv[0] == "", "no program is named")
	for _, text := range slices.Concat(b.Argv, b.Env, []string{b.Folder, b.Dir}) {
		fault(strings.ContainsRune(text, 0) || !utf8.ValidString(text), "%q: no argument, variable or folder can have a zero byte or other than UTF-8 in it", text)
	}
	fault(strings.ContainsAny(b.Folder+b.Dir, "\n\r"), "folder %q, dir %q: without an end of line", b.Folder, b.Dir)
	for _, env := range b.Env {
		name, _, found := strings.Cut(env, "=")
		fault(!found || !namePattern.MatchString(name), "env: %q is not NAME=VALUE", env)
	}
	for _, worker := range b.Only {
		fault(worker < 0 || worker >= b.Workers, "only: there is no worker %d of %d", worker, b.Workers)
	}
	return errors.Join(append(faults, b.Resources.validate())...)
}

func (r Resources) validate() error {
	var faults []error
	for name, n := range map[string]int{"cpus": r.CPUs, "memory_mb": r.MemoryMB, "gpus": r.GPUs} {
		if n < 0 {
			faults = append(faults, fmt.Errorf("%s is %d; it is at least 0", name, n))
		}
	}
	if r.Time < 0 || r.Lead < 0 || r.Lead > 0 && r.Lead >= r.Time {
		faults = append(faults, fmt.Errorf("time is %v and lead %v; neither is negative, and lead is the shorter", r.Time, r.Lead))
	}
	for name, word := range r.words() {
		if word != "" && !wordPattern.MatchString(word) {
			faults = append(faults, fmt.Errorf("%s is %q, which is no name", name, word))
		}
	}
	if r.Gres != "" && r.GPUs > 0 {
		faults = append(faults, errors.New("gres and gpus say the same; leave one out"))
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

// words are what Slurm alone knows.
func (r Resources) words() map[string]string {
	return map[string]string{"partition": r.Partition, "account": r.Account, "qos": r.QOS, "constraint": r.Constraint, "gres": r.Gres}
}

// foreign lists what an engine other than Slurm cannot do.
func (r Resources) foreign(engine string) error {
	var faults []error
	for name, word := range r.words() {
		if word != "" {
			faults = append(faults, fmt.Errorf("%s is for Slurm; leave it out for %s", name, engine))
		}
	}
	if len(r.Extra) > 0 {
		faults = append(faults, fmt.Errorf("extra is for Slurm; leave it out for %s", engine))
	}
	if r.Lead > 0 {
		faults = append(faults, fmt.Errorf("lead is for Slurm; leave it out for %s", engine))
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

// chosen are the workers to start.
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

// logsName is the folder of the workers' logs.
const logsName = "logs"

// LogPath is the file to which a worker's output goes, after what earlier starts of it
// have put there.
func LogPath(folder string, worker int) string {
	return filepath.Join(folder, logsName, fmt.Sprintf("worker-%d.log", worker))
}
