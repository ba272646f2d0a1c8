package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/listen"
	"graft/internal/telemetry"
	"graft/report/document"
	"graft/report/runs"
	"graft/report/serve"
	"graft/runner/app"
)

// serveOptions are the flags of `graft serve`.
type serveOptions struct {
	address  string        // address to listen on
	anywhere bool          // allow addresses other than loopback
	every    time.Duration // interval between two scans of an active run
	json     bool          // print one object
}

// newServeCommand makes `graft serve`. It does not need LibTorch.
func newServeCommand() *cobra.Command {
	var o serveOptions
	command := &cobra.Command{
		Use:   "serve DIR",
		Short: "Serve the runs in a folder as live web pages",
		Long: `serve prints an address and serves pages there until it is stopped: a list of the runs in a
folder and its subfolders, a page for each run, and pages that compare several runs. The pages are
the same as in 'graft report --html', but update while they are open. The list shows the progress,
the time left and a sparkline of each run, and has filters; /runs.json is the list as JSON.

serve only reads: it takes no locks and writes no files, so it does not disturb running jobs,
and it is idle while no page is open. Folders that are damaged, incomplete or not runs are
listed with their faults.

127.0.0.1 is reachable from this machine only; use ssh -L from another machine.
--listen-anywhere allows other addresses: anyone who can reach the address can read the runs.`,
		Example: `  graft serve runs
  graft serve runs --listen 127.0.0.1:8080
  ssh -L 8080:127.0.0.1:8080 node graft serve runs --listen 127.0.0.1:8080`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runServe(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.address, "listen", "127.0.0.1:0", "HTTP address of the server; port 0 selects a free port")
	flags.BoolVar(&o.anywhere, "listen-anywhere", false,
		"allow an address that other machines can reach; they can then read the runs")
	flags.DurationVar(&o.every, "every", 2*time.Second, "minimum interval between two reads of a run in progress")
	flags.BoolVar(&o.json, "json", false, "print one JSON object when the server is ready")
	return command
}

// serveReport is the JSON output of `graft serve --json`.
type serveReport struct {
	URL    string `json:"url"`    // address of the list of runs
	Folder string `json:"folder"` // folder of the runs, as given
}

// shortestEvery is the minimum interval between scans of the runs.
const shortestEvery = 100 * time.Millisecond

func runServe(ctx context.Context, w io.Writer, dir string, o serveOptions) error {
	if o.every < shortestEvery {
		return failure.Usagef("--every %s: must be at least %s", o.every, shortestEvery)
	}
	if _, err := runs.ReadFolder(files.OS{}, dir); err != nil {
		return err
	}
	if err := listen.CheckAddress(o.address, o.anywhere, "they could read the runs"); err != nil {
		return err
	}
	l, err := listen.Listen(o.address, o.anywhere)
	if err != nil {
		return err
	}
	if o.anywhere {
		loggerFrom(ctx).Warn("serving to other machines; anyone who can reach this address can read the runs",
			zap.String("address", l.Addr().String()), zap.String("folder", dir))
	}
	gpus, closeGPUs := watchGPUs(environment(ctx), o.every)
	defer closeGPUs()
	pages := serve.New(serve.Options{Files: files.Beneath(dir), Dir: dir, Every: o.every, Now: time.Now,
		Hosts: listen.Hosts(o.address, l, o.anywhere), Version: thisVersion(), GPUs: gpus})
	server := &http.Server{Handler: listen.Bounded(pages, serve.MaxRequests), ConnContext: listen.WithClient,
		ReadHeaderTimeout: listen.HeaderTimeout, ReadTimeout: listen.RequestTimeout,
		// unknown clients must not fill the log
		WriteTimeout: serve.RenderTimeout, IdleTimeout: listen.IdleTimeout, MaxHeaderBytes: serve.MaxRequestBytes,
		ErrorLog: log.New(io.Discard, "", 0)}
	if err := announce(w, serveReport{"http://" + reachable(l) + "/", dir}, o.json); err != nil {
		return errors.Join(err, l.Close())
	}
	return attend(ctx, server, listen.NewGate(l, time.Now))
}

// watchGPUs returns a reader of this machine's GPUs; nil if there are none.
func watchGPUs(env *app.Env, every time.Duration) (read func() []telemetry.State, end func()) {
	if env.Telemetry == nil {
		return nil, func() {}
	}
	source, err := env.Telemetry(true)
	if err != nil {
		return nil, func() {}
	}
	return telemetry.NewOnDemand(source, every, env.Now).States, func() { _ = source.Close() }
}

// announce prints the address of the pages.
func announce(w io.Writer, r serveReport, json bool) error {
	if json {
		return document.PrintJSON(w, r)
	}
	_, err := fmt.Fprintf(w, "serving the runs of %s at %s\n", document.Printable(r.Folder), r.URL)
	return err
}

// reachable returns the address of a listener for clients: with the machine's name if it listens on all addresses.
func reachable(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if name, err := os.Hostname(); err == nil && net.ParseIP(host).IsUnspecified() {
		host = name
	}
	return net.JoinHostPort(host, port)
}

// attend serves until ctx ends, and then lets open requests finish.
func attend(ctx context.Context, server *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), listen.ShutdownTimeout)
	defer cancel()
	if server.Shutdown(end) != nil {
		_ = server.Close() // the remaining clients read slowly
	}
	<-failed
	return ctx.Err()
}
