package trace

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"

	"graft/internal/files"
)

// alibaba2020Format is the task table of the trace that Alibaba published of its platform PAI in 2020. It has no
// header.
var alibaba2020Format = format{
	Format: Format{Name: "alibaba2020", About: "CSV of Alibaba's PAI cluster from 2020 (pai_task_table)"},
	knows:  knowsTasks,
	open: func(source lines, o *Options) (rows, error) {
		return &tasks{cells: cells{lines: source}, owners: o.owners}, nil
	},
}

var taskColumns = []string{"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu",
	"plan_mem", "plan_gpu", "gpu_type"}

// Indexes of the fields that are read.
const (
	taskJob = iota
	taskName
	taskInstances
	taskStatus
	taskStart
	taskEnd
	taskCPU
	taskMemory
	taskGPU
	taskType
)

// knowsTasks checks that the first line has the right number of fields, with numbers in the numeric ones.
func knowsTasks(head []byte) bool {
	row := bytes.Split(firstLine(head), []byte(","))
	if len(row) != len(taskColumns) {
		return false
	}
	for _, k := range []int{taskInstances, taskStart, taskEnd, taskCPU, taskGPU} {
		if _, ok := decimal(row[k]); !ok && !isMissing(row[k]) {
			return false
		}
	}
	return len(row[taskJob]) > 0 && string(row[taskJob]) != taskColumns[taskJob]
}

// tasks reads jobs. A job consists of adjacent tasks with one name; joining distant tasks would require the whole table
// in memory.
type tasks struct {
	cells
	owners *owners // may be nil

	task    Job  // last task read, if it belongs to the next job
	pending bool // task is set
	at      int  // line at which the last job begins
	taskAt  int  // line of task
	left    int  // number of tasks left out

	types, titles interner
}

func (t *tasks) next(job *Job) error {
	if !t.pending {
		if err := t.nextTask(); err != nil {
			return err
		}
	}
	*job, t.at, t.pending = t.task, t.taskAt, false
	for {
		err := t.nextTask()
		if isEOF(err) {
			break
		}
		if err != nil {
			return err
		}
		if t.task.ID != job.ID {
			t.pending = true
			break
		}
		join(job, &t.task)
	}
	t.owners.complete(job)
	return nil
}

// join adds a task to its job. The job's device is shared to the extent that all tasks share theirs.
func join(job, task *Job) {
	begin, end := min(job.Submit, task.Submit), max(job.Submit+job.Duration, task.Submit+task.Duration)
	job.Submit, job.Duration = begin, clamped(end-begin)
	switch {
	case job.GPUs == 0:
		job.Share, job.VC, job.Name = task.Share, task.VC, task.Name
	case task.GPUs > 0 && task.Share != job.Share:
		job.Share = 0
	}
	job.GPUs, job.CPUs, job.RAM = min(job.GPUs+task.GPUs, maxCount), min(job.CPUs+task.CPUs, maxCount),
		min(job.RAM+task.RAM, maxCount)
	if task.State > job.State {
		job.State = task.State
	}
}

// nextTask reads the next task that has started.
func (t *tasks) nextTask() error {
	for {
		if err := t.cells.next(); err != nil {
			return err
		}
		if len(t.row) != len(taskColumns) {
			return t.wrongCount(len(taskColumns))
		}
		t.task, t.taskAt = Job{}, t.first
		if isMissing(t.row[taskStart]) {
			t.left++
			continue
		}
		return t.takeTask(&t.task)
	}
}

func (t *tasks) takeTask(task *Job) error {
	if len(t.row[taskJob]) == 0 {
		return t.wants(taskJob, wantID)
	}
	task.ID, task.Name, task.VC = string(t.row[taskJob]), t.titles.of(t.row[taskName]), t.types.of(t.row[taskType])
	task.State = stateOf(t.row[taskStatus])
	start, ok := seconds(t.row[taskStart])
	if !ok {
		return t.wants(taskStart, wantSeconds)
	}
	task.Submit = start
	if !isMissing(t.row[taskEnd]) {
		end, ok := seconds(t.row[taskEnd])
		if !ok {
			return t.wants(taskEnd, wantSeconds)
		}
		task.Duration = clamped(end - start)
	}
	return t.takeDevices(task)
}

// takeDevices converts the percentage of one instance to devices of all instances.
func (t *tasks) takeDevices(task *Job) error {
	instances := 1
	if cell := t.row[taskInstances]; !isMissing(cell) {
		n, ok := count(cell)
		if !ok {
			return t.wants(taskInstances, wantCount)
		}
		instances = n
	}
	cpu, err := t.percent(taskCPU)
	if err != nil {
		return err
	}
	gpu, err := t.percent(taskGPU)
	if err != nil {
		return err
	}
	memory, err := t.percent(taskMemory)
	if err != nil {
		return err
	}
	task.RAM = int64(whole(memory * 1024 * float64(instances))) // GB per instance
	task.CPUs = whole(cpu / 100 * float64(instances))
	task.GPUs = whole(math.Ceil(gpu/100) * float64(instances))
	if gpu > 0 && gpu < 100 {
		task.Share = max(int(math.Round(10*gpu)), 1) % 1000
	}
	return nil
}

// percent reads a nonnegative number; a missing one is zero.
func (t *tasks) percent(k int) (float64, error) {
	v, ok := decimal(t.row[k])
	switch {
	case isMissing(t.row[k]):
		return 0, nil
	case !ok || v < 0:
		return 0, t.wants(k, "a number of at least 0")
	}
	return v, nil
}

// whole rounds up to a valid number of devices.
func whole(v float64) int { return int(math.Ceil(min(v, maxCount))) }

func (t *tasks) wants(k int, want string) error {
	return t.faultAt(k, taskColumns[k], isButWants(t.row[k], want), mendLine)
}

// clock returns an unknown clock: times are seconds since an unpublished date.
func (t *tasks) clock() clock { return clock{} }

func (t *tasks) line() int { return t.at }

func (t *tasks) skipped() int { return t.left }

// owners holds the submitter and the submission time of jobs. It stores 64 bits of a hash instead of each name, so a
// million jobs take about 60 MB. Two jobs have equal hashes once in thirty million such tables.
type owners struct {
	users []string
	of    map[uint64]owner
}

type owner struct {
	user   int32
	submit int64
}

// ownerColumns are the fields of pai_job_table, which has no header either.
var ownerColumns = []string{"job_name", "inst_id", "user", "status", "start_time", "end_time"}

func readOwners(fsys files.FS, path string) (*owners, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = file.Close() }() // the file was only read
	text, err := plainText(file, path)
	if err != nil {
		return nil, err
	}
	table := cells{lines: lines{in: text, path: path}}
	o, numbers := &owners{of: map[uint64]owner{}}, map[string]int32{}
	for {
		err := table.next()
		if isEOF(err) {
			return o, nil
		}
		if err == nil {
			err = o.add(&table, numbers)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (o *owners) add(table *cells, numbers map[string]int32) error {
	if len(table.row) != len(ownerColumns) {
		return table.wrongCount(len(ownerColumns))
	}
	job, user, start := table.row[0], table.row[2], table.row[4]
	submit, ok := seconds(start)
	if !ok {
		if isMissing(start) {
			return nil
		}
		return table.faultAt(4, ownerColumns[4], isButWants(start, wantSeconds), mendLine)
	}
	number, known := numbers[string(user)]
	if !known {
		number = int32(len(o.users))
		numbers[string(user)] = number
		o.users = append(o.users, string(user))
	}
	o.of[hashed(job)] = owner{number, submit}
	return nil
}

func hashed(name []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(name) // never fails
	return h.Sum64()
}

// complete adds the table's information to a job. Its duration stays unchanged, since the job waited from its
// submission to its first task.
func (o *owners) complete(job *Job) {
	if o == nil {
		return
	}
	if found, known := o.of[hashed([]byte(job.ID))]; known {
		job.User, job.Submit = o.users[found.user], found.submit
	}
}
