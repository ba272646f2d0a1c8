package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"graft/fleet"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/workers"
)

// Limits of fleet.fit.
const (
	memoryShare    = 0.9 // of the free memory, or of a device's whole memory, for all workers together
	mostOnGPU      = 64  // workers on one GPU
	pollFit        = 50 * time.Millisecond
	fitFolder      = "fit"
	largestMeasure = 1 << 16 // bytes of a worker's output
)

// fitted returns the batch with the best number of workers per device, measured before the first leg.
func (x *monitor) fitted(ctx context.Context, b fleet.Batch) (fleet.Batch, error) {
	if !x.Fleet.Fit {
		return b, nil
	}
	devices, most := max(1, len(b.Resources.Devices)), runtime.NumCPU()
	gpu := x.firstDevice() != "cpu"
	if gpu {
		most = mostOnGPU
	}
	limit := x.memory(gpu)
	best, why, err := workers.Fit(most, limit, func(n int) (workers.Load, error) { return x.try(ctx, b, n) })
	if err == nil {
		err = files.RemoveAll(x.env.Files, filepath.Join(b.Folder, fitFolder))
	}
	if err != nil {
		return b, err
	}
	x.env.Log.Info("chose the number of workers per device", zap.Int("workers", best.Workers),
		zap.Float64("images_per_second", app.Rounded(best.Rate)), zap.Int64("memory_mib", best.Memory>>20),
		zap.Int64("limit_mib", limit>>20), zap.String("why", why))
	b.Workers = best.Workers * devices
	if gpu {
		b.Env = append(b.Env, fmt.Sprintf("%s=%g", workers.MemoryVariable, memoryShare/float64(best.Workers)))
	}
	return b, nil
}

// firstDevice returns the device of the measurement; the others are assumed to be equal.
func (s *workspace) firstDevice() string {
	if len(s.Fleet.Devices) > 0 {
		return s.Fleet.Devices[0]
	}
	return s.Run.Device
}

// memory returns the limit in bytes; zero if unknown.
func (x *monitor) memory(gpu bool) int64 {
	if !gpu {
		return int64(memoryShare * float64(app.FreeMemory(x.env.Files)))
	}
	_, whole, err := app.DeviceMemory(x.env, x.firstDevice())
	if err != nil {
		x.env.Log.Warn("device memory is unknown; adding workers until one fails", zap.Error(err))
	}
	return int64(memoryShare * float64(whole))
}

// try runs n workers at once, which measure and end.
func (x *monitor) try(ctx context.Context, b fleet.Batch, n int) (workers.Load, error) {
	b.Key, b.Folder, b.Workers = b.Key+"-fit-"+strconv.Itoa(n), filepath.Join(b.Folder, fitFolder, strconv.Itoa(n)), n
	b.Argv = append(append([]string{}, b.Argv...), "--measure", strconv.Itoa(n))
	if len(b.Resources.Devices) > 0 {
		b.Resources.Devices = b.Resources.Devices[:1]
	}
	if err := files.RemoveAll(x.env.Files, b.Folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return workers.Load{}, err
	}
	f, err := fleet.Start(ctx, workers.Tools(x.env), "local", b)
	if err != nil {
		return workers.Load{}, err
	}
	defer func() { _ = f.Close() }()
	if err := x.awaitEnd(ctx, f); err != nil {
		return workers.Load{}, err
	}
	l := workers.Load{Workers: n}
	for k := range n {
		m, err := readMeasure(x.env.Files, measurePath(b.Folder, k))
		if err != nil {
			return l, err
		}
		l.Rate += m.Rate
		if m.Shared {
			l.Memory = max(l.Memory, m.Memory)
		} else {
			l.Memory += m.Memory
		}
	}
	x.env.Log.Debug("measured workers", zap.Int("workers", n), zap.Float64("images_per_second", app.Rounded(l.Rate)),
		zap.Int64("memory_mib", l.Memory>>20))
	return l, nil
}

// awaitEnd waits until all workers have ended. If one fails, the others are cancelled.
func (x *monitor) awaitEnd(ctx context.Context, f *fleet.Fleet) error {
	clock := fleet.NewClock(x.env.Now)
	for {
		states, err := f.Workers(ctx)
		live := 0
		for _, s := range states {
			if s.State == fleet.Failed || s.State == fleet.Stopped {
				return errors.Join(workers.LastLogLine(x.env.Files, f), f.Cancel(context.WithoutCancel(ctx)))
			}
			if s.State.Live() {
				live++
			}
		}
		if live == 0 || err != nil {
			return err
		}
		if err := clock.Wait(ctx, pollFit); err != nil {
			return errors.Join(err, f.Cancel(context.WithoutCancel(ctx)))
		}
	}
}

// measure holds the numbers that a worker writes for Fit.
type measure struct {
	Rate   float64 `json:"images_per_second"`
	Memory int64   `json:"memory_bytes"`
	Shared bool    `json:"shared"` // the memory is the total of all workers on the device
}

func measurePath(folder string, worker int) string {
	return filepath.Join(folder, fmt.Sprintf("measure-%d.json", worker))
}

func readMeasure(fsys files.FS, path string) (m measure, err error) {
	text, err := files.ReadAll(fsys, path, largestMeasure)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil && !(m.Rate > 0 && m.Memory >= 0) {
		err = fmt.Errorf("%s: invalid measurement: throughput %g images/s with %d bytes of memory; expected "+
			"positive throughput", path, m.Rate, m.Memory)
	}
	return m, err
}

func writeMeasure(fsys files.FS, path string, m measure) error {
	return files.WriteAtomic(fsys, path, func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
}

// gather waits until all workers of a measurement are ready, so that they compute at the same time.
func (s *workspace) gather(ctx context.Context, folder, worker string, count int) error {
	if err := s.env.WriteText(filepath.Join(folder, "ready-"+worker), ""); err != nil {
		return err
	}
	clock := fleet.NewClock(s.env.Now)
	ready := 0
	for end := clock.Now() + time.Minute; clock.Now() < end; {
		entries, err := s.env.Files.ReadDir(folder)
		if err != nil {
			return err
		}
		ready = 0
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "ready-") {
				ready++
			}
		}
		if ready >= count {
			return nil
		}
		if err := clock.Wait(ctx, pollFit); err != nil {
			return err
		}
	}
	return fmt.Errorf("measure workers: only %d of %d workers were ready within a minute", ready, count)
}
