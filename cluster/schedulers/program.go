package schedulers

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/internal/coprocess"
)

// IsProgram reports whether the name of a scheduler contains a slash, and is therefore the path of a user's program.
func IsProgram(name string) bool {
	return strings.ContainsAny(name, "/"+string(filepath.Separator))
}

// programPolicy is the policy that asks a user's program. Estimates reach the program if the user names their source.
func programPolicy(path string) cluster.Policy {
	return cluster.Policy{Name: filepath.Base(path), About: "asks your program, in any language", Estimable: true,
		New: func(s cluster.Setup) (cluster.Scheduler, error) {
			p, err := coprocess.Start(context.Background(), coprocess.Options{Path: path}, "scheduler",
				setupOf(s.Pool.Name, s.Pool.Nodes, s.Study))
			if err != nil {
				return nil, err
			}
			return &program{path: path, process: p, types: s.Study.Types, next: newRequest()}, nil
		}}
}

// programSetup describes the pool in the first request.
type programSetup struct {
	Pool    string `json:"pool"` // name of the virtual cluster
	GPUs    int    `json:"gpus"`
	PerNode int    `json:"gpus_per_node"` // on nodes without another number in NodeTypes
	// number of GPUs by type; absent if all nodes are alike
	Types map[string]int `json:"gpu_types,omitempty"`
	// GPUs per node by type, for types with another number than PerNode
	NodeTypes map[string]int `json:"gpus_per_node_by_type,omitempty"`
}

func setupOf(pool string, nodes int, s *cluster.Study) programSetup {
	setup := programSetup{Pool: pool, PerNode: s.PerNode}
	gpus, byType := s.Devices(&trace.VC{Name: pool, Nodes: nodes})
	setup.GPUs = gpus
	for k, n := range byType {
		t := &s.Types[k]
		if setup.Types == nil {
			setup.Types, setup.NodeTypes = map[string]int{}, map[string]int{}
		}
		if setup.Types[t.Name] = n; t.GPUs > 0 && t.GPUs != s.PerNode {
			setup.NodeTypes[t.Name] = t.GPUs
		}
	}
	return setup
}

// TryProgram checks that a program can be used as a scheduler. It starts the program with the description of a cluster
// of one node, which has perNode devices, and then ends the program.
func TryProgram(ctx context.Context, path string, perNode int) error {
	return coprocess.Try(ctx, coprocess.Options{Path: path}, "scheduler",
		setupOf("check", 1, &cluster.Study{PerNode: perNode}))
}

// program is the scheduler that asks a user's program in each second with an event.
type program struct {
	path    string
	process *coprocess.Process
	types   []cluster.NodeType
	jobs    []*cluster.Job // by their numbers, in which they arrive
	next    programRequest
}

// programRequest tells a program what has changed since the last request. Jobs have the number that they had when they
// arrived.
type programRequest struct {
	Now     int64        `json:"now_s"`
	Free    int          `json:"free"`    // GPUs without a job
	Arrived []programJob `json:"arrived"` // jobs that wait from now on
	Ended   []int        `json:"ended"`
	Started []int        `json:"started"` // jobs of the last answer that started
	Refused []int        `json:"refused"` // jobs of the last answer that have no placement
}

// newRequest returns a request without changes, whose lists are not null.
func newRequest() programRequest {
	return programRequest{Arrived: []programJob{}, Ended: []int{}, Started: []int{}, Refused: []int{}}
}

// programJob is a job as it was submitted.
type programJob struct {
	Job      int      `json:"job"`
	ID       string   `json:"id"` // name in the trace
	User     string   `json:"user"`
	GPUs     int      `json:"gpus"`
	Types    []string `json:"gpu_types,omitempty"` // types on which the job can run; absent if it accepts all
	Fixed    bool     `json:"fixed,omitempty"`     // its number of devices cannot change
	Submit   int64    `json:"submit_s"`
	Limit    *int64   `json:"limit_s"`    // time limit that the user requested; null if unknown
	Estimate *float64 `json:"estimate_s"` // estimated duration; null if unknown
}

// programAnswer is a program's decision. Preemptions come first, then changes of sizes, then starts in their order.
type programAnswer struct {
	Preempt []int         `json:"preempt"`
	Resize  []programSize `json:"resize"`
	Start   []int         `json:"start"`
	InOrder int           `json:"in_order"` // number of first jobs in Start that no later job may overtake
	Wake    *int64        `json:"wake_s"`   // second of the next request without an event; null means none
}

// programSize is a new number of GPUs of a running job.
type programSize struct {
	Job  int `json:"job"`
	GPUs int `json:"gpus"`
}

// Arrived adds a job to the next request.
func (s *program) Arrived(j *cluster.Job) {
	one := programJob{Job: int(j.Number), ID: j.Trace.ID, User: j.Trace.User, GPUs: j.GPUs, Fixed: !j.Resizable(),
		Submit: j.Trace.Submit}
	for k := range s.types {
		if j.Accepts(k) {
			one.Types = append(one.Types, s.types[k].Name)
		}
	}
	if len(one.Types) == len(s.types) {
		one.Types = nil
	}
	if j.Trace.Limit > 0 {
		one.Limit = &j.Trace.Limit
	}
	if !math.IsNaN(j.Estimate) {
		one.Estimate = &j.Estimate
	}
	if int(j.Number) == len(s.jobs) { // otherwise it arrives again after a failure
		s.jobs = append(s.jobs, j)
	}
	s.next.Arrived = append(s.next.Arrived, one)
}

// Ended adds the end of a job to the next request.
func (s *program) Ended(j *cluster.Job) { s.next.Ended = append(s.next.Ended, int(j.Number)) }

// Schedule sends the arrived and ended jobs to the program, and carries out the program's answer.
func (s *program) Schedule(p *cluster.Pool) int64 {
	s.next.Now, s.next.Free = p.Now(), p.Free()
	var a programAnswer
	err := s.process.Ask(context.Background(), s.next, &a)
	s.next = newRequest()
	if err == nil {
		err = s.follow(p, a)
	}
	if err != nil {
		p.Fail(err)
		return cluster.Never
	}
	if a.Wake != nil {
		return *a.Wake
	}
	return cluster.Never
}

func (s *program) follow(p *cluster.Pool, a programAnswer) error {
	for _, k := range a.Preempt {
		j, err := s.job(k, "preempt", true)
		if err != nil {
			return err
		}
		p.Preempt(j)
	}
	for _, size := range a.Resize {
		j, err := s.job(size.Job, "resize", true)
		if err != nil {
			return err
		}
		if !j.Resizable() {
			return fmt.Errorf("%s returned job %d in \"resize\", but this job (ID %s) is fixed: its number of devices "+
				"cannot change", s.path, size.Job, j.Trace.ID)
		}
		p.Resize(j, size.GPUs)
	}
	if err := s.start(p, a); err != nil {
		return err
	}
	if a.Wake != nil && *a.Wake <= p.Now() {
		return fmt.Errorf("%s returned wake_s %d at second %d; expected a later second", s.path, *a.Wake, p.Now())
	}
	return nil
}

func (s *program) start(p *cluster.Pool, a programAnswer) error {
	for place, k := range a.Start {
		j, err := s.job(k, "start", false)
		if err != nil {
			return err
		}
		if p.Start(j) {
			s.next.Started = append(s.next.Started, k)
			continue
		}
		s.next.Refused = append(s.next.Refused, k)
		if place < a.InOrder {
			return nil
		}
	}
	return nil
}

// job returns a job of a list, which must run or must wait.
func (s *program) job(k int, list string, runs bool) (*cluster.Job, error) {
	if k < 0 || k >= len(s.jobs) {
		return nil, fmt.Errorf("%s returned job %d in %q; expected the number of a job that has arrived", s.path, k,
			list)
	}
	j, state := s.jobs[k], ""
	switch {
	case j.End != cluster.Never:
		state = "has ended"
	case runs && !j.Running():
		state = "does not run"
	case !runs && j.Running():
		state = "runs"
	default:
		return j, nil
	}
	return nil, fmt.Errorf("%s returned job %d in %q, but this job (ID %s) %s", s.path, k, list, j.Trace.ID, state)
}

// Close ends the program.
func (s *program) Close() error {
	s.process.Close()
	return nil
}
