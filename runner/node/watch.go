package node

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"

	"go.uber.org/zap"

	"graft/internal/failure"
	"graft/internal/listen"
	"graft/internal/prometheus"
	"graft/internal/telemetry"
	"graft/report/document"
	"graft/runner/app"
	"graft/runner/control"
)

// WatchOptions holds the options of the HTTP server of a run. Requests to this server change nothing and need no token.
type WatchOptions struct {
	// address of the server for GET /status and /metrics, such as 127.0.0.1:0; empty means no server
	Address  string
	Anywhere bool // allows addresses that other machines can reach; false allows loopback only
}

// Limits of the server.
const (
	mostRequests = 16       // concurrent requests
	mostHeader   = 16 << 10 // bytes
)

// watch serves the state of a run. Nil does nothing.
type watch struct {
	WatchOptions
	env      *app.Env
	listener net.Listener
	hosts    func(host string) bool
	server   *http.Server
	done     chan struct{} // closed when the server has stopped
	file     string        // file in the run folder, removed by close
	progress *progress
	devices  []telemetry.Device
	gpus     bool               // the devices are GPUs
	sampler  *telemetry.Sampler // nil has no readings
}

// openWatch opens the port, so that a port in use fails before a run folder is made. Without an address it returns nil.
func openWatch(env *app.Env, o WatchOptions) (*watch, error) {
	if o.Address == "" {
		if o.Anywhere {
			return nil, failure.Usagef("option \"listen-anywhere\" requires option \"listen\"; set an address")
		}
		return nil, nil
	}
	if err := listen.CheckAddress(o.Address, o.Anywhere,
		"they could read the names of tasks and the readings of devices"); err != nil {
		return nil, err
	}
	l, err := listen.Listen(o.Address, o.Anywhere)
	if err != nil {
		return nil, err
	}
	return &watch{WatchOptions: o, env: env, listener: l, hosts: listen.Hosts(o.Address, l, o.Anywhere),
		done: make(chan struct{})}, nil
}

// serve starts answering requests, and writes the address into the run folder.
func (w *watch) serve(x *execution) error {
	if w == nil {
		return nil
	}
	address := w.listener.Addr().String()
	w.file, w.progress = x.run.Path(control.AddressFile), x.progress
	if x.meter != nil {
		w.sampler, w.devices, w.gpus = x.meter.sampler, x.devices.source.Devices(), x.devices.index != nil
	}
	if err := w.env.WriteText(w.file, address+"\n"); err != nil {
		return err
	}
	w.server = &http.Server{Handler: listen.Bounded(w, mostRequests), ConnContext: listen.WithClient,
		ReadHeaderTimeout: listen.HeaderTimeout, ReadTimeout: listen.RequestTimeout,
		WriteTimeout: listen.RequestTimeout,
		// unknown clients must not fill the log
		IdleTimeout: listen.IdleTimeout, MaxHeaderBytes: mostHeader, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(w.done)
		if err := w.server.Serve(listen.NewGate(w.listener, w.env.Now)); !errors.Is(err, http.ErrServerClosed) {
			w.env.Log.Error("server stopped", zap.Error(err))
		}
	}()
	w.env.Log.Info("listening", zap.String("address", address), zap.String("in", filepath.Clean(w.file)))
	return nil
}

// close ends all connections and removes the file of the address.
func (w *watch) close() {
	if w == nil {
		return
	}
	if w.server == nil {
		_ = w.listener.Close()
		return
	}
	_ = w.env.Files.Remove(w.file)
	ctx, cancel := context.WithTimeout(context.Background(), listen.ShutdownTimeout)
	defer cancel()
	if w.server.Shutdown(ctx) != nil {
		_ = w.server.Close() // the remaining clients read slowly
	}
	<-w.done
}

// ServeHTTP answers GET /status and GET /metrics.
func (w *watch) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	to.Header().Set("Cache-Control", "no-store")
	to.Header().Set("X-Content-Type-Options", "nosniff")
	var refused *listen.Refusal
	switch host := listen.HostOf(r.Host); {
	case !w.hosts(host):
		refused = listen.Refuse(http.StatusForbidden, "use the address in the run folder's listen file",
			"the request names the host %q, which is not an address of this server", host)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		to.Header().Set("Allow", "GET, HEAD")
		refused = listen.Refuse(http.StatusMethodNotAllowed, "use GET", "method %s is not allowed", r.Method)
	case r.URL.Path == "/metrics":
		to.Header().Set("Content-Type", prometheus.ContentType)
		_, _ = io.WriteString(to, w.metrics()) // the client may have disconnected
		return
	case r.URL.Path != "/status":
		refused = listen.Refuse(http.StatusNotFound, "use /status or /metrics", "unknown path %q", r.URL.Path)
	}
	to.Header().Set("Content-Type", "application/json")
	if refused != nil {
		to.WriteHeader(refused.Status)
		_ = document.PrintJSON(to, refused)
		return
	}
	_ = document.PrintJSON(to, w.status())
}

// status returns the current state of the run.
func (w *watch) status() RunStatus {
	s := w.progress.now()
	s.Graft, s.Devices = w.env.Version, telemetry.States(w.devices, w.readings())
	return s
}

func (w *watch) readings() []telemetry.Reading {
	if w.sampler == nil {
		return nil
	}
	return w.sampler.Latest()
}

// metrics returns the same data for Prometheus: readings of GPUs under the names of NVIDIA's DCGM exporter.
func (w *watch) metrics() string {
	s, t := w.progress.now(), &prometheus.Text{}
	t.Family("graft_node_info", "gauge", "The run; always 1.")
	t.Sample(1, "version", w.env.Version, "folder", s.Folder, "scheduler", s.Scheduler)
	t.Family("graft_node_tasks", "gauge", "Tasks by their state.")
	for _, state := range TaskStates() {
		t.Sample(float64(s.Tasks[state]), "state", string(state))
	}
	t.Counter("graft_node_attempts_total", "Started attempts.", float64(s.Attempts))
	if w.gpus {
		telemetry.WriteDCGM(t, w.env.Host, w.devices, w.readings())
		return t.String()
	}
	for k, d := range telemetry.States(w.devices, w.readings()) {
		if k == 0 {
			t.Family("graft_node_energy_joules_total", "counter", "Energy of the processors since the command started.")
		}
		if joules, known := d.Reading.EnergyJoules.Get(); known {
			t.Sample(joules, "domain", d.Name, "zone", d.UUID)
		}
	}
	return t.String()
}
