package study

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graft/internal/files"
	"graft/torch/weights"
)

// Setting describes the cluster and the jobs with which a scheduler was trained, or with which it runs.
type Setting struct {
	Cluster map[string]string `json:"cluster"`          // sizes and options of the cluster by key
	Traces  map[string]string `json:"traces,omitempty"` // paths of traces by the digest of their contents
}

// NewSetting returns a setting with the given values of cluster keys, and without traces.
func NewSetting(cluster map[string]any) Setting {
	s := Setting{Cluster: map[string]string{}, Traces: map[string]string{}}
	for key, value := range cluster {
		s.Cluster[key] = fmt.Sprint(value)
	}
	return s
}

// Read reads trace files and adds their digests to the setting.
func (s Setting) Read(fsys files.FS, traces ...string) error {
	for _, path := range traces {
		h := sha256.New()
		if err := addFile(h, fsys, path); err != nil {
			return err
		}
		s.Traces[hex.EncodeToString(h.Sum(nil))] = path
	}
	return nil
}

// settingKey is the name of the setting in the file of a learned scheduler.
const settingKey = "graft.setting"

// Save adds the setting to set, the content of the file of a learned scheduler.
func (s Setting) Save(set *weights.Set) error {
	text, err := json.Marshal(s)
	if err == nil {
		set.Metadata[settingKey] = string(text)
	}
	return err
}

// settingOf returns the setting in the file of a learned scheduler. Older files have none.
func settingOf(set *weights.Set) (s Setting, err error) {
	if text, there := set.Metadata[settingKey]; there {
		if err = json.Unmarshal([]byte(text), &s); err != nil {
			err = fmt.Errorf("the metadata entry %s of the file is damaged: %w", settingKey, err)
		}
	}
	return s, err
}

// Remarks returns warnings about a learned scheduler: that it was trained on a different cluster, or that the jobs were
// in its training data.
func (l *Learned[K]) Remarks(name string, here Setting) (lines []string) {
	var changes []string
	for _, key := range slices.Sorted(maps.Keys(here.Cluster)) {
		if was, known := l.From.Cluster[key]; known && was != here.Cluster[key] {
			changes = append(changes, fmt.Sprintf("%s was %s and is now %s", key, was, here.Cluster[key]))
		}
	}
	if len(changes) > 0 {
		lines = append(lines, fmt.Sprintf("Warning: the scheduler %s was trained on another cluster: %s.", name,
			strings.Join(changes, ", ")))
	}
	for _, digest := range slices.Sorted(maps.Keys(here.Traces)) {
		if _, learned := l.From.Traces[digest]; learned {
			lines = append(lines, fmt.Sprintf("Warning: the scheduler %s was trained on the trace %s; its results "+
				"there "+
				"do not show how it schedules unseen jobs.", name, here.Traces[digest]))
		}
	}
	return lines
}
