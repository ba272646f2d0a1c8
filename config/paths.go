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
	"time.profile", "time.timeline", "adapt.policy", "adapt.vocabulary", "parallel.token_file", "run.fork",
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
	if !pathsBeside(fsys, r) {
		return
	}
	there := func(path string) bool { return pathExists(fsys, path) }
	named := func(key, text string) bool { return !slices.Contains(namesToo, key) || files.IsPath(text) }
	r.FindPaths(pathKeys, named, there)
}

// pathsBeside reports whether a path may also count from the document's folder.
func pathsBeside(fsys files.FS, r *decode.Reading) bool {
	file := r.File()
	return fsys != nil && file != "" && filepath.Base(file) != results.ResolvedFile &&
		!pathExists(fsys, filepath.Join(filepath.Dir(file), results.ManifestFile))
}

// pathFinder returns a function that resolves the paths within the items of a key's list, by the rule of findPaths.
func pathFinder(fsys files.FS, r *decode.Reading, key string) func(path string) string {
	own := pathsBeside(fsys, r) && r.Given[key].File == r.File()
	return func(path string) string {
		beside := filepath.Join(filepath.Dir(r.File()), path)
		if !own || path == "" || filepath.IsAbs(path) || pathExists(fsys, path) || !pathExists(fsys, beside) {
			return path
		}
		return beside
	}
}

func pathExists(fsys files.FS, path string) bool {
	if strings.Contains(path, seedMark) {
		return anySeed(fsys, path)
	}
	_, err := fsys.Stat(path)
	return err == nil
}

// anySeed reports whether the file exists for any seed.
func anySeed(fsys files.FS, path string) bool {
	entries, err := fsys.ReadDir(filepath.Dir(path))
	before, after, _ := strings.Cut(filepath.Base(path), seedMark)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), before) && strings.HasSuffix(e.Name(), after)
	})
}
