package config

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/results"
)

// pathKeys are the keys of all kinds of files whose values name files or folders that are read.
var pathKeys = []string{"network.file", "network.weights", "network.runtimes", "data.path", "data.vocabulary",
	"program.folder",
	"time.profile", "time.timeline", "adapt.policy", "adapt.vocabulary", "parallel.token_file",
	"simulate.policy", "tables.folders", "tables.held_out", "pipeline.scenarios",
	"schedule.schedulers", "workloads.from",
	"workloads.train", "workloads.validation", "workloads.test", "table.file", "table.network", "table.vocabulary",
	"policy.weights"}

// namesToo lists the keys whose values are names or numbers as well as paths.
var namesToo = []string{"time.profile", "schedule.schedulers",
	"table.network"}

// findPaths resolves the files that a document names, in the working directory or next to the document. In a document
// kept in a run folder the paths are already resolved: they are relative to the working directory only.
func findPaths(fsys files.FS, r *decode.Reading) {
	if fsys == nil {
		return
	}
	there := func(path string) bool {
		if strings.Contains(path, seedMark) {
			return anySeed(fsys, path)
		}
		_, err := fsys.Stat(path)
		return err == nil
	}
	if file := r.File(); file == "" || there(filepath.Join(filepath.Dir(file), results.ManifestFile)) ||
		filepath.Base(file) == results.ResolvedFile {
		return
	}
	named := func(key, text string) bool { return !slices.Contains(namesToo, key) || files.IsPath(text) }
	r.FindPaths(pathKeys, named, there)
}

// anySeed reports whether the file exists for any seed.
func anySeed(fsys files.FS, path string) bool {
	entries, err := fsys.ReadDir(filepath.Dir(path))
	before, after, _ := strings.Cut(filepath.Base(path), seedMark)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), before) && strings.HasSuffix(e.Name(), after)
	})
}
