package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"graft/dataset"
	"graft/model"
	"graft/net2net"
	"graft/original/learn"
	"graft/simulation/learning"
	"graft/torch"
	"graft/trainer"
)

// words are the texts that a type has; an empty one is the zero of the type where
// that may be given.
var words = map[reflect.Type][]string{
	reflect.TypeFor[trainer.Rule]():    textsOf(trainer.Exponential, trainer.Constant, trainer.Cosine, trainer.StepDown),
	reflect.TypeFor[trainer.Change]():  textsOf(trainer.Up, trainer.Down),
	reflect.TypeFor[net2net.Form]():    textsOf(net2net.Auto, net2net.Identity, net2net.Residual),
	reflect.TypeFor[net2net.Compat]():  textsOf(net2net.Off, net2net.Original, net2net.WithoutNorm),
	reflect.TypeFor[net2net.Kind]():    textsOf(net2net.Kinds()...),
	reflect.TypeFor[learning.Reward](): textsOf(learning.Standard, learning.Tangent),
	reflect.TypeFor[torch.Rule]():      torch.RuleNames(),
	reflect.TypeFor[torch.Precision](): torch.PrecisionNames(),
}

// member is a field of a struct.
type member struct {
	of   reflect.Type
	name string
}

// key is such as graft/trainer.Options.Batch.
func (m member) key() string {
	if m.of == nil {
		return ""
	}
	return m.of.PkgPath() + "." + m.of.Name() + "." + m.name
}

// memberWords are those of fields whose type is a plain text.
var memberWords = map[member][]string{
	{reflect.TypeFor[dataset.Options](), "Kind"}: dataset.Kinds(),
	{reflect.TypeFor[NetworkOptions](), "Name"}:  zooNames(),

	{reflect.TypeFor[learn.Options](), "Rule"}:   {learn.Reinforce, learn.Exact},
	{reflect.TypeFor[learn.Options](), "Reward"}: {learn.RewardTangent, learn.RewardAccuracy, learn.RewardStandard},
}

// notation of a type that is written as a text, where the type does not say so
// itself because it is written otherwise in JSON.
type textNotation struct {
	read    func(string) (any, error)
	pattern string // of the text, as a regular expression
}

var notations = map[reflect.Type]textNotation{
	reflect.TypeFor[net2net.Action](): {
		read:    func(text string) (any, error) { return net2net.ParseAction(text) },
		pattern: "^(none|[a-z]+:[^:]+(:[0-9]+)?)$",
	},
}

func textsOf[T ~string](values ...T) []string {
	texts := make([]string, len(values))
	for k, v := range values {
		texts[k] = string(v)
	}
	return texts
}

// zooNames are the names of networks, and the empty one where a file is given.
func zooNames() []string {
	names := []string{""}
	for _, e := range model.ZooEntries() {
		names = append(names, e.Name)
		if e.Alias != "" {
			names = append(names, e.Alias)
		}
	}
	return names
}

// wordsOf are the texts that a field may have; nil is any.
func wordsOf(of reflect.Type, field reflect.StructField, t tag) []string {
	if t.words != nil {
		return t.words
	}
	if known, ok := memberWords[member{of, field.Name}]; ok {
		return known
	}
	if field.Type.Kind() == reflect.Slice {
		return words[field.Type.Elem()]
	}
	return words[field.Type]
}

// choice is "a, b and c" with each in quotes, without the empty one.
func choice(list []string) string {
	var quoted []string
	for _, word := range list {
		if word != "" {
			quoted = append(quoted, quoteTOML(word))
		}
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " and " + quoted[last]
}

// guess is "; did you mean X?" where a name is near to X.
func guess(name string, names []string) string {
	if best := nearest(name, names); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return ""
}

// nearest is the name with the fewest typing errors, or that begins with the text;
// empty where half of it would be wrong.
func nearest(name string, names []string) string {
	best, least := "", len(name)/2+1
	for _, other := range names {
		wrong := mistakes(strings.ToLower(name), strings.ToLower(other))
		if strings.HasPrefix(other, name) && len(name) > 2 {
			wrong = min(wrong, 1)
		}
		if other != "" && wrong < least {
			best, least = other, wrong
		}
	}
	return best
}

// mistakes is how many letters are missing, superfluous, other or changed places
// (Damerau 1964, without edits of what was swapped).
func mistakes(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := range len(a) {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i + 1
		for j := range len(b) {
			changed := last[j]
			if a[i] != b[j] {
				changed++
			}
			row[j+1] = min(changed, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		rows[0], rows[1], rows[2] = last, row, before
	}
	return rows[1][len(b)]
}

// known says whether a text is among the words; without words all are.
func known(text string, list []string) bool { return list == nil || slices.Contains(list, text) }
