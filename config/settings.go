package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"graft/files"
)

// Setting is a key of a file and its value, whatever they mean.
type Setting struct {
	Key  string // with its sections, such as time.budget
	Text string // the value on one line
}

// ReadSettings lists what a TOML file says, sorted by key, whatever kind of file it is;
// nothing is checked but that it is TOML. An error wraps [Faults] where it is not.
func ReadSettings(fsys files.FS, path string) ([]Setting, error) {
	text, err := files.ReadAll(fsys, path, largestFile)
	if err != nil {
		return nil, err
	}
	var table map[string]any
	if err := toml.Unmarshal(text, &table); err != nil {
		return nil, newDocument(path, text).tomlFault(err)
	}
	list := settingsOf(nil, "", table)
	slices.SortFunc(list, func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
	return list, nil
}

// settingsOf adds what a table says.
func settingsOf(list []Setting, before string, table map[string]any) []Setting {
	for key, value := range table {
		if inner, ok := value.(map[string]any); ok {
			list = settingsOf(list, before+key+".", inner)
			continue
		}
		list = append(list, Setting{before + key, settingText(value)})
	}
	return list
}

// settingText writes a value on one line. Texts stand without quotes where nothing
// else could be meant.
func settingText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return floatText(v)
	case time.Time:
		return v.Format(time.RFC3339)
	case []any:
		items := make([]string, len(v))
		for k, item := range v {
			items[k] = settingText(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		text, err := json.Marshal(v)
		if err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(value)
}
