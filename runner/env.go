package main

import (
	"context"
	"crypto/rand"
	"os"
	"time"

	"graft/internal/files"
	"graft/runner/app"
)

// environment returns the environment of the command that runs under ctx.
func environment(ctx context.Context) *app.Env {
	built := builtVersion()
	e := &app.Env{Files: filesFrom(ctx), Now: time.Now, Random: rand.Reader, Version: built.source(),
		Modified: built.Modified, Args: os.Args, Log: loggerFrom(ctx), Enter: os.Chdir}
	e.Digests = files.NewDigests(e.Files, e.Now)
	e.LeaseTimeout = leaseTimeout
	if built.Revision != unknown {
		e.Revision = built.Revision
	}
	if e.Getenv = os.Getenv; os.Getenv(app.EnergyVariable) != "off" {
		e.Telemetry = app.OpenTelemetry(e.Files)
	}
	e.Host, _ = os.Hostname()      // on failure the manifest has none
	e.Program, _ = os.Executable() // on failure starting processes fails
	if s := screenFrom(ctx); drawable(s) {
		e.Show = func(w app.Progress) func() { return drawBars(s, w).close }
	}
	return e
}

// leaseTimeout is the timeout of leases; zero means the default. Tests set it.
var leaseTimeout time.Duration

// filesKey is the key of the file system in a context.
type filesKey struct{}

// filesFrom returns the file system of commands: the disk unless a test sets another one.
func filesFrom(ctx context.Context) files.FS {
	if fsys, has := ctx.Value(filesKey{}).(files.FS); has {
		return fsys
	}
	return files.OS{}
}
