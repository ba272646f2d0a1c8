package program

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"graft/internal/coprocess"
	"graft/internal/files"
	"graft/model"
	"graft/model/graph"
	"graft/model/pt2"
	"graft/model/python"
	modules "graft/python"
	"graft/torch"
	"graft/torch/weights"
)

// Protocol is the version of the protocol between graft and external training programs.
const Protocol = 1

// largestFile is the maximum size in bytes of a file that the program writes.
const largestFile = 64 << 30

// Start holds the inputs of a new session.
type Start struct {
	Files  files.FS
	Folder string // existing, empty folder for files of tensors; the caller removes it
	Seed   int64  // seed that the program may use
	// Devices is the number of devices, which replaces {devices} in the command and in the environment.
	Devices int
	// PythonPath is the value of the environment variable PYTHONPATH. The session adds Folder to this path.
	PythonPath string
	Print      func(line string) // receives each line that the program prints; nil drops them
}

// Session is a running external training program.
type Session struct {
	process *coprocess.Process
	start   Start
	name    string
	silence time.Duration
	Begun   Begun
}

// Begun describes the initial network and the optimizer that a program sends.
type Begun struct {
	Network   *graph.Imported
	Optimizer torch.OptimizerOptions
	// Moments reports whether surgery transfers the optimizer's state to the changed network; otherwise the state of
	// all parameters is reset.
	Moments bool
	Kind    string // class of the optimizer
	Torch   string // version of PyTorch
}

// Facts holds the size of an epoch, as the program reports it.
type Facts struct {
	Steps int `json:"steps"` // batches per epoch
	Batch int `json:"batch"` // examples per batch
}

// begun is the report of the network.
type begun struct {
	Network   string    `json:"network"`
	Optimizer optimizer `json:"optimizer"`
}

type optimizer struct {
	Kind        string    `json:"kind"`
	LR          float64   `json:"lr"`
	Betas       []float64 `json:"betas"`
	Eps         float64   `json:"eps"`
	WeightDecay float64   `json:"weight_decay"`
	Momentum    float64   `json:"momentum"`
	Dampening   float64   `json:"dampening"`
	Nesterov    bool      `json:"nesterov"`
}

// silent is the remedy of a program that sends no message in time.
const silent = "raise program.silence if its start, its validation or a step takes longer, and check that it calls " +
	"job.batches, job.step and job.validated"

// Open starts a program and reads the initial network that the program sends.
func Open(ctx context.Context, o Options, s Start) (*Session, error) {
	o.EnsureDefaults()
	if err := write(s.Files, filepath.Join(s.Folder, "graft_job.py"), modules.Job); err != nil {
		return nil, err
	}
	// Scripts import the module of this version, unless their own folder has one.
	paths := filepath.SplitList(s.PythonPath)
	env := append([]string{"PYTHONUNBUFFERED=1",
		"PYTHONPATH=" + strings.Join(append(paths, s.Folder), string(filepath.ListSeparator))},
		filled(o.Env, s.Devices)...)
	if o.Threads > 0 {
		env = append(env, fmt.Sprintf("OMP_NUM_THREADS=%d", o.Threads))
	}
	p, err := coprocess.Attach(coprocess.Command{Args: filled(o.Command, s.Devices), Folder: o.Folder, Env: env,
		Variable: "GRAFT_PROGRAM", Meeting: s.Folder, Limit: o.Silence, Hint: silent, Print: s.Print})
	if err != nil {
		return nil, err
	}
	session := &Session{process: p, start: s, name: o.String(), silence: o.Silence}
	if err := session.begin(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return session, nil
}

func (s *Session) begin(ctx context.Context) error {
	var hello struct {
		Hello  int    `json:"hello"`
		Torch  string `json:"torch"`
		Python string `json:"python"`
	}
	if err := s.process.Receive(ctx, &hello); err != nil {
		return s.explained(s.unattached(err))
	}
	var b begun
	if err := s.ask(ctx, map[string]any{"protocol": Protocol, "seed": s.start.Seed,
		"folder": s.start.Folder, "devices": s.start.Devices, "silence": s.silence.Seconds()}, &b); err != nil {
		return err
	}
	s.Begun = Begun{Torch: hello.Torch, Kind: b.Optimizer.Kind}
	s.Begun.Optimizer, s.Begun.Moments = b.Optimizer.options()
	var err error
	if s.Begun.Network, err = s.read(b.Network); err != nil {
		return fmt.Errorf("read the network of %s: %w", s.name, err)
	}
	return nil
}

// unattached adds the likely cause if a program ends without a message.
func (s *Session) unattached(err error) error {
	if strings.Contains(err.Error(), "exited without an answer") {
		return fmt.Errorf("%w; the program must call graft_job.attach(), then job.begin(…), and loop while "+
			"job.running()", err)
	}
	return err
}

// options returns the optimizer as graft's own, and whether graft can change its moments. NAdam and RAdam have the
// moments of Adam.
func (o optimizer) options() (torch.OptimizerOptions, bool) {
	options := torch.OptimizerOptions{LR: o.LR, Eps: o.Eps, WeightDecay: o.WeightDecay, Momentum: o.Momentum,
		Dampening: o.Dampening, Nesterov: o.Nesterov}
	if len(o.Betas) == 2 {
		options.Beta1, options.Beta2 = o.Betas[0], o.Betas[1]
	}
	rule, known := map[string]torch.Rule{"Adam": torch.Adam, "AdamW": torch.AdamW, "NAdam": torch.Adam,
		"RAdam": torch.Adam, "SGD": torch.SGD}[o.Kind]
	if !known {
		return torch.OptimizerOptions{Rule: torch.SGD, LR: o.LR}, false
	}
	options.Rule = rule
	return options, true
}

// read reads the network that the program exported.
func (s *Session) read(path string) (*graph.Imported, error) {
	if err := s.written(path); err != nil {
		return nil, err
	}
	f, err := s.start.Files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return pt2.ReadSeveral(f, info.Size())
}

// written returns an error if a path that the program reports is not a regular file in the session's folder.
func (s *Session) written(path string) error {
	if filepath.Dir(path) != filepath.Clean(s.start.Folder) {
		return fmt.Errorf("%s is outside the session's folder %s", path, s.start.Folder)
	}
	entries, err := s.start.Files.ReadDir(s.start.Folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == filepath.Base(path) && e.Type().IsRegular() {
			return nil
		}
	}
	return fmt.Errorf("%s is not a regular file", path)
}

// Sketch returns the program's network without tensors.
func (s *Session) Sketch() (*model.Network, error) { return model.FromGraph(s.Begun.Network.Graph) }

// Network returns the program's network with its initial weights, on the CPU. The scope owns the weights.
func (s *Session) Network(scope *torch.Scope) (*model.Network, error) {
	n, err := s.Sketch()
	if err != nil {
		return nil, err
	}
	place := model.Placement{Random: scope.NewGenerator(torch.CPU, 0)}
	for _, t := range s.Begun.Network.Weights.Tensors {
		if t.DType == weights.Float64 {
			place.DType = torch.Float64
		}
	}
	if err := n.Materialize(scope, place); err != nil {
		return nil, err
	}
	return n, n.Load(s.Begun.Network.Weights)
}

// Fresh makes the program start the first epoch of a new job.
func (s *Session) Fresh(ctx context.Context) (Facts, error) {
	at, err := s.epoch(ctx, map[string]any{"do": "start"})
	return at.Facts, err
}

// Place is a position in an epoch, with the size of the epoch.
type Place struct {
	Facts
	Position int // completed batches
}

// epoch sends an order that lets the program reach its first epoch.
func (s *Session) epoch(ctx context.Context, order map[string]any) (Place, error) {
	var report struct {
		Epoch    Facts `json:"epoch"`
		Position int   `json:"position"`
	}
	if err := s.ask(ctx, order, &report); err != nil {
		return Place{}, err
	}
	at := Place{report.Epoch, report.Position}
	if at.Steps < 1 || at.Batch < 1 || at.Steps > math.MaxInt32 || at.Batch > math.MaxInt32 || at.Position < 0 ||
		at.Position > at.Steps {
		return Place{}, fmt.Errorf("%s reports %d steps per epoch, %d examples per step and %d completed steps; steps "+
			"and examples must be between 1 and %d, and completed steps at most the steps per epoch", s.name, at.Steps,
			at.Batch, at.Position, math.MaxInt32)
	}
	return at, nil
}

// ask sends an order and decodes the report.
func (s *Session) ask(ctx context.Context, order, report any) error {
	return s.explained(s.process.Ask(ctx, order, report))
}

// failureFile is the file in the session's folder in which the first process that fails writes its error. The messages
// of the other processes and of their launcher follow that error, and often push it out of the last lines.
const failureFile = "failure.txt"

// longestFailure is the maximum length in bytes of the text in failureFile that errors quote.
const longestFailure = 4096

// explained adds the first failure of a program of several processes to an error.
func (s *Session) explained(err error) error {
	if err == nil || s.written(filepath.Join(s.start.Folder, failureFile)) != nil {
		return err
	}
	text, unread := files.ReadAll(s.start.Files, filepath.Join(s.start.Folder, failureFile), longestFailure)
	if unread != nil || len(text) == 0 {
		return err
	}
	return fmt.Errorf("%w\nits first failure:\n%s", err, strings.ToValidUTF8(strings.TrimSpace(string(text)), "?"))
}

func write(fsys files.FS, path string, content []byte) error {
	return files.WriteAtomic(fsys, path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Content is the network and the optimizer's state that a session sends to the program.
type Content struct {
	Network *model.Network
	Tensors *weights.Set     // of the network, its constants included, and moments, by their names in a checkpoint
	Counts  map[string]int64 // steps of each parameter
}

// write writes a content and returns the keys of an order.
func (s *Session) write(c Content, do string) (map[string]any, error) {
	const file = "pushed.safetensors"
	source, err := python.Source(c.Network, python.Options{Weights: file})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.start.Folder, file)
	if err := weights.Write(s.start.Files, path, c.Tensors); err != nil {
		return nil, err
	}
	return map[string]any{"do": do, "source": source, "tensors": path, "counts": c.Counts}, nil
}

// Restore continues a saved job. The argument state is the result of Save. Restore returns the position in the epoch;
// the size of the epoch differs from the saved size if the number of processes differs.
func (s *Session) Restore(ctx context.Context, c Content, state []byte) (Place, error) {
	order, err := s.write(c, "restore")
	if err != nil {
		return Place{}, err
	}
	path := filepath.Join(s.start.Folder, "restored.safetensors")
	if err := write(s.start.Files, path, state); err != nil {
		return Place{}, err
	}
	order["state"] = path
	return s.epoch(ctx, order)
}

// Trained holds the results of the training steps of one call of Train.
type Trained struct {
	Losses   []float64
	Correct  []int
	Examples []int   // examples of each step; zero means unknown
	Rate     float64 // learning rate of the optimizer's first group
}

// Devices returns the number of devices with which the program was started.
func (s *Session) Devices() int { return s.start.Devices }

// Train makes the program take one training step per given learning rate. Shares holds the weight of the teacher's term
// in the loss of each step; nil removes the teacher. Devices is the current number of devices, which the program can
// read.
func (s *Session) Train(rates, shares []float64, devices int) (t Trained, err error) {
	var report struct {
		Losses   []*float64 `json:"losses"`
		Correct  []int      `json:"correct"`
		Examples []int      `json:"examples"` // missing in older versions of graft_job.py
		Rate     float64    `json:"rate"`
	}
	order := map[string]any{"do": "train", "steps": len(rates), "rates": rates, "shares": shares, "devices": devices}
	if err := s.ask(context.Background(), order, &report); err != nil {
		return t, err
	}
	if len(report.Losses) != len(rates) || len(report.Correct) != len(rates) {
		return t, fmt.Errorf("%s reports the results of %d steps instead of %d", s.name, len(report.Losses), len(rates))
	}
	for _, loss := range report.Losses {
		t.Losses = append(t.Losses, number(loss))
	}
	t.Correct, t.Examples, t.Rate = report.Correct, make([]int, len(rates)), report.Rate
	for k, n := range report.Examples[:min(len(rates), len(report.Examples))] {
		if n < 0 || n > math.MaxInt32 {
			return t, fmt.Errorf("%s reports a step with %d examples; pass the size of the batch to job.step",
				s.name, n)
		}
		t.Examples[k] = n
	}
	return t, nil
}

// number is NaN for null: JSON has neither NaN nor infinities.
func number(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// Evaluate makes the program end its epoch and validate the network.
func (s *Session) Evaluate() (loss, accuracy float64, err error) {
	var report struct {
		Loss     *float64 `json:"loss"`
		Accuracy float64  `json:"accuracy"`
	}
	if err := s.ask(context.Background(), map[string]any{"do": "evaluate"}, &report); err != nil {
		return 0, 0, err
	}
	return number(report.Loss), report.Accuracy, nil
}

// Pull returns the program's tensors, and the optimizer's step count of each parameter.
func (s *Session) Pull() (*weights.Set, map[string]int64, error) {
	var report struct {
		Tensors string           `json:"tensors"`
		Counts  map[string]int64 `json:"counts"`
	}
	if err := s.ask(context.Background(), map[string]any{"do": "pull"}, &report); err != nil {
		return nil, nil, err
	}
	if err := s.written(report.Tensors); err != nil {
		return nil, nil, err
	}
	set, err := weights.Read(s.start.Files, report.Tensors, weights.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("read the weights of %s: %w", s.name, err)
	}
	return set, report.Counts, nil
}

// Pushed describes how the program runs a changed network.
type Pushed struct {
	Own   bool     `json:"own"`   // the program's own module runs, with other sizes; false means a generated module
	Moved *float64 `json:"moved"` // largest change of an output in eval mode; nil if it is not finite
}

// Push replaces the network and the optimizer's state in the program. A teacher is a larger network that the program
// may use in its loss; nil keeps the current one.
func (s *Session) Push(c Content, teacher *Content) (p Pushed, err error) {
	order, err := s.write(c, "push")
	if err != nil {
		return p, err
	}
	if teacher != nil {
		const file = "teacher.safetensors"
		source, err := python.Source(teacher.Network, python.Options{Weights: file})
		if err != nil {
			return p, err
		}
		path := filepath.Join(s.start.Folder, file)
		if err := weights.Write(s.start.Files, path, teacher.Tensors); err != nil {
			return p, err
		}
		order["teacher"], order["teacher_tensors"] = source, path
	}
	return p, s.ask(context.Background(), order, &p)
}

// Save returns the program's state, without the network and without the moments in the optimizer's state.
func (s *Session) Save() ([]byte, error) {
	var report struct {
		State string `json:"state"`
	}
	if err := s.ask(context.Background(), map[string]any{"do": "save"}, &report); err != nil {
		return nil, err
	}
	if err := s.written(report.State); err != nil {
		return nil, err
	}
	return files.ReadAll(s.start.Files, report.State, largestFile)
}

// End ends the training loop and waits until the program exits.
func (s *Session) End() error {
	return s.explained(s.process.Finish(context.Background(), map[string]any{"do": "end"}))
}

// Close ends the program, if it still runs.
func (s *Session) Close() {
	if s != nil {
		s.process.Say(map[string]any{"do": "stop"})
		s.process.Close()
	}
}
