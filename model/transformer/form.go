package transformer

import (
	"fmt"
	"maps"
	"slices"

	"graft/model/form"
	"graft/model/graph"
)

// key is the key of a transformer in a network's file.
const key = "transformer"

// IsForm reports whether the top-level table of a network file contains the section "transformer".
func IsForm(table map[string]any) bool {
	_, ok := table[key]
	return ok
}

// FromForm creates the graph of a transformer from the top-level table of a network file. A returned error has the type
// form.Faults. The default vocabulary has 256 tokens; the default context is 64.
func FromForm(table map[string]any) (*graph.Graph, error) {
	var faults form.Faults
	bad := func(where ...any) func(string, ...any) {
		return func(text string, args ...any) {
			faults = append(faults, form.Fault{Where: where, Text: fmt.Sprintf(text, args...)})
		}
	}
	name, isText := table["name"].(string)
	if table["name"] != nil && !isText {
		bad("name")("must be a string")
	}
	for _, k := range slices.Sorted(maps.Keys(table)) {
		if k != "name" && k != key {
			bad(k)("unknown key %s in a file with the section transformer; remove the key", k)
		}
	}
	c := Config{Vocabulary: 256, Context: 64}
	options, ok := table[key].(map[string]any)
	if !ok {
		bad(key)("must be a table with width, heads and depth")
	}
	known := c.fields()
	for _, k := range slices.Sorted(maps.Keys(options)) {
		if set, ok := known[k]; !ok {
			bad(key, k)("unknown key; expected one of: %q", slices.Sorted(maps.Keys(known)))
		} else if want := set(options[k]); want != "" {
			bad(key, k)("got %v, expected %s", options[k], want)
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	g, err := New(c)
	if err != nil {
		return nil, form.Faults{{Where: []any{key}, Text: err.Error()}}
	}
	if name != "" {
		g.Name, g.Modules[0].Class = name, name
	}
	return g, nil
}

// fields returns, for each key, a function that sets the option, or returns a requirement that its value violates.
func (c *Config) fields() map[string]func(any) string {
	return map[string]func(any) string{
		"vocabulary": whole(&c.Vocabulary), "context": whole(&c.Context), "width": whole(&c.Width),
		"heads": whole(&c.Heads), "groups": whole(&c.Groups),
		"head_size": whole(&c.Size), "hidden": whole(&c.Hidden), "depth": whole(&c.Depth),
		"norm": oneOf(&c.Norm, "layer", "rms"), "positions": oneOf(&c.Positions, "learned", "rotary-halves",
			"rotary-pairs", "none"), "mlp": oneOf(&c.MLP, "gelu", "relu", "swiglu"),
		"post": either(&c.Post), "untied": either(&c.Untied), "no_bias": either(&c.NoBias),
		"stacked": either(&c.Stacked), "full": either(&c.Full),
		"task": oneOf(&c.Task, "next-token", "text-label", "token-label"), "classes": whole(&c.Classes),
		"padded": either(&c.Padded), "embed_norm": either(&c.EmbedNorm),
		"base": real(&c.Base), "scale": real(&c.Scale), "eps": real(&c.Eps), "dropout": real(&c.Dropout),
		"stochastic_depth": real(&c.DropPath),
	}
}

// most limits sizes, so a mistyped one is a fault and not an allocation.
const most = 1 << 20

func whole(to *int) func(any) string {
	return func(v any) string {
		switch v := v.(type) {
		case int64:
			*to = int(min(max(v, 0), most+1))
		case int:
			*to = v
		case float64: // JSON
			*to = int(v)
		default:
			*to = 0
		}
		if *to < 1 || *to > most {
			return fmt.Sprintf("an integer from 1 to %d", most)
		}
		return ""
	}
}

func real(to *float64) func(any) string {
	return func(v any) string {
		switch v := v.(type) {
		case float64:
			*to = v
		case int64:
			*to = float64(v)
		default:
			return "a number"
		}
		if !(*to >= 0 && *to < 1e9) {
			return "a number from 0 to 1e9"
		}
		return ""
	}
}

func either(to *bool) func(any) string {
	return func(v any) string {
		var ok bool
		if *to, ok = v.(bool); !ok {
			return "true or false"
		}
		return ""
	}
}

func oneOf[T ~int](to *T, words ...string) func(any) string {
	return func(v any) string {
		word, _ := v.(string)
		k := slices.Index(words, word)
		if k < 0 {
			return fmt.Sprintf("one of %q", words)
		}
		*to = T(k)
		return ""
	}
}
