package main

import (
	"context"
	"crypto/rand"
	"os"
	"time"

	"graft/internal/files"
	"graft/runner/app"
)

// environment is the machine as the command that runs under ctx sees it.
func environment(ctx context.Context) *app.Env {
	built := builtVersion()
	e := &app.Env{Files: filesFrom(ctx), Now: time.Now, Random: rand.Reader, Version: built.source(),
		Modified: built.Modified, Args: os.Args, Log: loggerFrom(ctx), Enter: os.Chdir}
	if built.Revision != unknown {
		e.Revision = built.Revision
	}
	if e.Getenv = os.Getenv; os.Getenv(app.EnergyVariable) != "off" {
		e.Telemetry = app.OpenTelemetry(e.Files)
	}
	e.Host, _ = os.Hostname()      // the manifest has none then
	e.Program, _ = os.Executable() // starting processes fails without it
	if s := screenFrom(ctx); drawable(s) {
		e.Show = func(w app.Progress) func() { return drawBars(s, w).close }
	}
	return e
}

// filesKey is the key of the file system in a context.
type filesKey struct{}

// filesFrom is the file system of commands: the disk unless a test uses another one.
func filesFrom(ctx context.Context) files.FS {
	if fsys, has := ctx.Value(filesKey{}).(files.FS); has {
		return fsys
	}
	return files.OS{}
}
