package decode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Setting holds a key and its value from a TOML document. The document need not be a graft configuration file.
type Setting struct {
	Key  string // key after its tables, such as time.budget
	Text string // value in TOML, on one line
}

// Settings lists the keys and values of a TOML document, sorted by key. If the document is not TOML or exceeds a limit,
// the error wraps Faults.
func (d *Document) Settings() ([]Setting, error) {
	table, err := d.TOML()
	if err != nil {
		return nil, err
	}
	list := settingsOf(nil, "", table)
	slices.SortFunc(list, func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
	return list, nil
}

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

// settingText writes a value on one line, texts without quotes.
func settingText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return FloatText(v)
	case time.Time:
		return v.Format(time.RFC3339)
	case []any:
		return "[" + strings.Join(mapped(v, settingText), ", ") + "]"
	case map[string]any:
		text, err := json.Marshal(v)
		if err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(value)
}
