package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Version of the program. The linker sets the variables (-ldflags "-X main.version=…"). If they are empty, the build's
// own record is used, which builds with -buildvcs=false do not have.
var (
	version  string
	revision string // commit of the source
	modified string // "true" if the source differs from that revision
)

// unknown replaces facts that neither the linker nor the build recorded.
const unknown = "unknown"

// stamp holds the values set by the linker. Empty fields are not set.
type stamp struct{ version, revision, modified string }

// versionInfo is the JSON output of `graft version --json`.
type versionInfo struct {
	Version  string `json:"version"`  // version of graft, "(devel)" if the build had none
	Revision string `json:"revision"` // commit of the source, "unknown" if the build did not record it
	Modified bool   `json:"modified"` // whether the source differed from that revision
	Go       string `json:"go"`       // version of Go for the build
	OS       string `json:"os"`       // GOOS of the build
	Arch     string `json:"arch"`     // GOARCH of the build
}

// newVersionCommand makes `graft version`. It does not need LibTorch.
func newVersionCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of graft and of its Go compiler",
		Example: `  graft version
  graft version --json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			info := builtVersion()
			return show(command.OutOrStdout(), asJSON, &info, nil, printVersion)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// builtVersion returns the version of this build.
func builtVersion() versionInfo {
	build, _ := debug.ReadBuildInfo()
	return readVersion(stamp{version, revision, modified}, build)
}

// thisVersion identifies the source of this program, for runs and reports.
func thisVersion() string { return builtVersion().source() }

// source returns the version with the revision, unless the version contains it, and whether the source differed.
func (v versionInfo) source() string {
	text, short := v.Version, v.Revision[:min(len(v.Revision), revisionDigits)]
	if v.Revision == unknown || strings.Contains(text, short) {
		return text
	}
	text += ", revision " + short
	if v.Modified {
		text += ", modified"
	}
	return text
}

// revisionDigits is the number of revision digits in Go's pseudo-versions.
const revisionDigits = 12

// printVersion prints the version as text.
func printVersion(w io.Writer, info *versionInfo) error {
	modified := ""
	if info.Modified {
		modified = ", modified"
	}
	_, err := fmt.Fprintf(w, "graft %s (revision %s%s, %s, %s/%s)\n",
		info.Version, info.Revision, modified, info.Go, info.OS, info.Arch)
	return err
}

// readVersion combines the values of the linker and the build's own record; build may be nil.
func readVersion(linked stamp, build *debug.BuildInfo) versionInfo {
	info := versionInfo{
		Version:  linked.version,
		Revision: unknown,
		Go:       runtime.Version(),
		OS:       runtime.GOOS,
		Arch:     runtime.GOARCH,
	}
	if build == nil {
		build = new(debug.BuildInfo)
	}
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.Revision = setting.Value
		case "vcs.modified":
			info.Modified = setting.Value == "true"
		}
	}
	if linked.revision != "" {
		info.Revision, info.Modified = linked.revision, linked.modified == "true"
	}
	if info.Version == "" {
		info.Version = build.Main.Version
	}
	if info.Version == "" {
		info.Version = unknown
	}
	return info
}
