package lint

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Load reads the source tree at root: the files that git tracks and the untracked files that it does not ignore.
// Without git, or outside a checkout, it walks the folder and skips files that match patterns in .gitignore.
func Load(root string) (*Tree, error) {
	names, err := listByGit(root)
	if err != nil {
		names, err = listByWalk(root)
	}
	if err != nil {
		return nil, fmt.Errorf("list the files under %s: %w", root, err)
	}
	contents := make(map[string][]byte, len(names))
	for _, name := range names {
		full := filepath.Join(root, filepath.FromSlash(name))
		info, err := os.Lstat(full)
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted but still in the index, or a link to another file of the tree
		}
		if contents[name], err = os.ReadFile(full); err != nil {
			return nil, fmt.Errorf("read the tree: %w; make the file readable or remove it", err)
		}
	}
	return NewTree(contents), nil
}

func listByGit(root string) ([]string, error) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"), nil
}

// listByWalk supports the subset of .gitignore that this tree uses: a name anywhere, a path from the root, and shell
// patterns in either.
func listByWalk(root string) ([]string, error) {
	ignored := ignorePatterns(root)
	var names []string
	err := filepath.WalkDir(root, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case entry.IsDir() && ignored.match(name):
			return filepath.SkipDir
		case !entry.IsDir() && !ignored.match(name):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

type patterns []string

func ignorePatterns(root string) patterns {
	all := patterns{".git"}
	text, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		return all
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(strings.TrimSpace(line), "/")
		if line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

func (p patterns) match(name string) bool {
	for _, pattern := range p {
		against := filepath.Base(name)
		if rooted, ok := strings.CutPrefix(pattern, "/"); ok {
			pattern, against = rooted, name
		}
		if ok, _ := filepath.Match(pattern, against); ok {
			return true
		}
	}
	return false
}
