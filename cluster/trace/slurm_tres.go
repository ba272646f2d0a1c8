package trace

import (
	"bytes"
	"math"
)

// tres holds Slurm's trackable resources of a job.
type tres struct {
	gpus, cpus int
	ram        int64  // MiB
	gpuType    string // type of most of the GPUs; empty if unknown
}

// maxTRES is the maximum number of cached texts of resources. Most jobs request resources that earlier jobs requested.
const maxTRES = 1 << 12

const wantTRES = "resources such as cpu=8,gres/gpu=2,mem=64G"

// tresOf reads resources, such as "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1".
func (t *table) tresOf(cell []byte) (tres, string) {
	if r, known := t.scratch.resources[string(cell)]; known {
		return r, ""
	}
	r, want := t.parseTRES(cell)
	if want == "" && len(t.scratch.resources) < maxTRES && len(cell) <= maxInternedLength {
		if t.scratch.resources == nil {
			t.scratch.resources = map[string]tres{}
		}
		t.scratch.resources[string(cell)] = r
	}
	return r, want
}

func (t *table) parseTRES(cell []byte) (r tres, want string) {
	typed, most := 0, 0
	for len(cell) > 0 {
		var one []byte
		one, cell, _ = bytes.Cut(cell, []byte(","))
		name, value, _ := bytes.Cut(one, []byte("="))
		kind := gpuTypeOf(name)
		n, ok := count(value)
		switch {
		case string(name) == "mem":
			r.ram = slurmMemory(value)
		case string(name) != "cpu" && string(name) != "gres/gpu" && kind == nil:
		case !ok:
			return tres{}, wantTRES
		case string(name) == "cpu":
			r.cpus = n
		case kind == nil:
			r.gpus = n
		default: // GPUs of one type, which gres/gpu counts too
			if typed = min(typed+n, maxCount); n > most {
				r.gpuType, most = t.types.of(kind), n
			}
		}
	}
	if r.gpus == 0 {
		r.gpus = typed
	}
	return r, ""
}

// gpuTypeOf returns a100 for gres/gpu:a100; nil for other resources.
func gpuTypeOf(name []byte) []byte {
	kind, is := bytes.CutPrefix(name, []byte("gres/gpu:"))
	if !is || len(kind) == 0 {
		return nil
	}
	return kind
}

func setAllocTRES(t *table, _ *Job, cell []byte) (want string) {
	t.scratch.row.got, want = t.tresOf(cell)
	return want
}

func setReqTRES(t *table, _ *Job, cell []byte) (want string) {
	t.scratch.row.asked, want = t.tresOf(cell)
	return want
}

// setResources stores the allocated resources of a row in its job or, if none were allocated, the requested ones.
// Slurm lists the type of requested GPUs only if the user named one.
func (r *slurmRow) setResources() {
	use := r.got
	if use.gpus == 0 && use.cpus == 0 {
		use = r.asked
	}
	job := &r.job
	job.GPUs, job.CPUs, job.RAM, job.GPUType = use.gpus, use.cpus, use.ram, use.gpuType
	if job.RAM == 0 {
		job.RAM = r.asked.ram
	}
	if r.asked.gpuType != "" {
		job.GPUType, job.NeedsType = r.asked.gpuType, true
	}
}

// slurmMemory returns MiB, rounded up; zero if the text is not a size.
func slurmMemory(text []byte) int64 {
	if len(text) == 0 {
		return 0
	}
	scale := map[byte]float64{'K': 1.0 / 1024, 'M': 1, 'G': 1024, 'T': 1024 * 1024}[text[len(text)-1]]
	if scale == 0 {
		scale = 1
	} else {
		text = text[:len(text)-1]
	}
	v, ok := decimal(text)
	if !ok || v < 0 || v*scale > maxSeconds {
		return 0
	}
	return int64(math.Ceil(v * scale))
}
