package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"graft/dataset"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/results"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/program"
)

// programNetwork names the network of a program that has not started.
const programNetwork = "program"

// largestScript is the maximum size in bytes of a file in the command of a program.
const largestScript = 64 << 20

// findProgram finds the program that trains the network, and computes the digest of the files in its command. A run
// folder may be read where the program is missing.
func (j *Job) findProgram(fsys files.FS, r *decode.Reading) error {
	err := j.findScripts(fsys, r)
	if filepath.Base(r.File()) == results.ResolvedFile {
		return nil
	}
	return err
}

func (j *Job) findScripts(fsys files.FS, r *decode.Reading) error {
	o := &j.Program
	if o.Folder == "" {
		o.Folder = filepath.Dir(cmp.Or(r.File(), "."))
	}
	if info, err := fsys.Stat(o.Folder); err != nil || !info.IsDir() {
		return fmt.Errorf("program.folder is %q, which is not a folder", o.Folder)
	}
	if err := found(fsys, o.Command[0], o.Folder); err != nil {
		return err
	}
	h := sha256.New()
	for _, arg := range o.Command {
		path := within(o.Folder, arg)
		if info, err := fsys.Stat(path); err != nil || !info.Mode().IsRegular() {
			if strings.HasSuffix(arg, ".py") {
				return fmt.Errorf("%s does not exist; paths in program.command are relative to the folder %s", arg,
					o.Folder)
			}
			continue
		}
		text, err := files.ReadAll(fsys, path, largestScript)
		if err != nil {
			return err
		}
		fmt.Fprintln(h, arg, len(text))
		h.Write(text)
	}
	j.trains = hex.EncodeToString(h.Sum(nil))
	return nil
}

func within(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// found returns an error if the first word of a command is not a program. A name with a slash is a path in the folder.
func found(fsys files.FS, name, folder string) error {
	if !strings.ContainsRune(name, filepath.Separator) {
		_, err := exec.LookPath(name)
		if err != nil {
			return fmt.Errorf("program.command begins with %q, which is not a program on PATH: %w", name, err)
		}
		return nil
	}
	info, err := fsys.Stat(within(folder, name))
	if err != nil {
		return fmt.Errorf("program.command begins with a program that does not exist: %w", err)
	}
	if info.Mode()&0o111 == 0 {
		return fmt.Errorf("program.command begins with %s, which is not executable; run chmod +x, or name its "+
			"interpreter first, such as [\"python3\", %q]", name, name)
	}
	return nil
}

// ownKeys are the sections and keys that do not apply to a job whose program trains, with the reason.
var ownKeys = []struct{ prefix, why string }{
	{"network.", "the program brings its network"},
	{"data.", "the program reads its data"},
	{"optimizer.", "the program brings its optimizer"},
	{"augment.", "the program augments its data"},
	{"parallel.", "graft supports programs of one process"},
	{"adaptive_batch.", "the program forms its batches"},
	{"run.device", "the program selects its device"},
	{"run.threads", "the program sets its threads"},
	{"run.fork", "the program starts at its first step"},
	{"run.instructions", "graft does not compute the steps"},
	{"adapt.warm_up_new", "graft does not compute the steps"},
	{"train.batch", "the program forms its batches"},
	{"train.micro_batch", "the program forms its batches"},
	{"train.eval_batch", "the program validates its network"},
	{"train.max_memory_mb", "the program forms its batches"},
	{"train.exact", "graft does not compute the steps"},
	{"train.abandon", "an epoch of a program cannot be abandoned"},
	{"train.steady", "graft does not compute the steps"},
	{"train.precision", "the program selects its precision"},
	{"checkpoint.keep_every", "no job can start from a checkpoint of a program"},
	{"train.cuda_graphs", "graft does not compute the steps"},
	{"train.label_smoothing", "the program computes its loss"},
	{"train.ema", "the program averages its weights; job.register saves the average"},
}

// checkProgram reports keys that do not apply to a job whose program trains.
func (j *Job) checkProgram(r *decode.Reading) {
	if !j.Program.On() {
		return
	}
	usual := NewJob()
	usual.Program = j.Program
	usual.EnsureDefaults()
	defaults := Values(usual)
	for at, v := range Values(j) {
		if v.Text == defaults[at].Text {
			continue
		}
		key := v.Key
		k := slices.IndexFunc(ownKeys, func(o struct{ prefix, why string }) bool {
			return key == o.prefix || strings.HasSuffix(o.prefix, ".") && strings.HasPrefix(key, o.prefix)
		})
		if k >= 0 {
			r.Blame(key, fmt.Sprintf("%s does not apply to a job with program.command: %s; remove it", key,
				ownKeys[k].why))
		}
	}
	if j.Adapt.Fallback == decideGradient {
		r.Blame("adapt.fallback", "adapt.fallback is \"gradient\", which computes gradients of the network, but "+
			"program.command starts a program that trains; use another fallback")
	}
	if j.Adapt.Decider == decideGradient {
		r.Blame("adapt.decider", "adapt.decider is \"gradient\", which computes gradients of the network, but "+
			"program.command starts a program that trains; use another decider")
	}
	if start := j.Adapt.Surgery.Start; start.NeedsData() {
		r.Blame("adapt.new_units", fmt.Sprintf("adapt.new_units is %q, which computes gradients of the network, but "+
			"program.command starts a program that trains; use new_units = %q", string(start), net2net.Copies))
	}
	if j.Adapt.Decider == decideTrials {
		r.Blame("adapt.decider", "adapt.decider is \"trials\", which trains copies of the network, but "+
			"program.command starts a program that trains; use another decider")
	}
}

// SetNetwork sets the network, the optimizer and the epoch size that a training program reported at its start.
func (j *Job) SetNetwork(n *model.Network, o torch.OptimizerOptions, f program.Facts) {
	j.network, j.brought, j.facts = n.Sketch(), o, f
}

// source names the network of a job: in the zoo, or its file or program.
func (j *Job) source() string {
	if j.Program.On() {
		return fmt.Sprintf("the network of %q", j.Program)
	}
	return cmp.Or(j.Network.Name, j.Network.File)
}

// dataName names the data of a job.
func (j *Job) dataName() string {
	if j.Program.On() {
		return "its data"
	}
	return j.Data.Kind
}

// ProgramData returns a dataset without examples that has the sizes of a training program's data. Call SetNetwork
// first.
func (j *Job) ProgramData() (*dataset.Set, error) {
	n, err := j.programNetwork()
	if err != nil {
		return nil, err
	}
	return (&trainer.Program{Facts: j.facts, Validation: j.Program.ValidationExamples}).Data(n)
}

// programNetwork returns the network of a program that has started.
func (j *Job) programNetwork() (*model.Network, error) {
	if j.network == nil {
		return nil, errors.New("the network is not known before the program has started")
	}
	return j.network.Sketch(), nil
}

// Rehearse returns an error if the script's actions, the policy or the profile cannot be used with the program's
// network. Call SetNetwork first.
func (j *Job) Rehearse() error {
	n, err := j.programNetwork()
	if err != nil {
		return err
	}
	faults := []error{j.Fits(n)}
	if j.profile != nil {
		faults = append(faults, j.CoveredBy(j.profile, n))
	}
	if !j.Adapt.rehearsed() {
		return errors.Join(faults...)
	}
	j.misfits(func(k int, err error) { faults = append(faults, fmt.Errorf("adapt.actions[%d]: %w", k, err)) })
	return errors.Join(faults...)
}
