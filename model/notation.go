package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"graft/internal/words"
)

// longestNotation limits the text of a layer, in bytes.
const longestNotation = 4 << 10

// kind is a layer with a notation.
type kind struct {
	name       string
	about      string      // one line of help
	example    string      // layers that accept an input of 3 x 16 x 16, separated by semicolons
	parameters []parameter // in PyTorch's order
	build      func(arguments) (Layer, error)
}

// parameter defines an argument of a kind.
type parameter struct {
	name  string
	want  want
	usual any // default; nil means required
}

// arguments are the complete arguments of a layer by name.
type arguments map[string]any

// Notation formats a layer for ParseLayer. The result is the layer's String or, if PyTorch omits arguments when it
// prints the layer, a text with all arguments.
func Notation(l Layer) string {
	if fuller, ok := l.(interface{ Notation() string }); ok {
		return fuller.Notation()
	}
	return l.String()
}

// ParseLayer parses a layer as PyTorch prints it or as Python code creates it, such as "Conv2d(3, 32, kernel_size=(3,
// 3), stride=(1, 1))" or "nn.Linear(32, 10)".
func ParseLayer(text string) (Layer, error) {
	if len(text) > longestNotation {
		return nil, fmt.Errorf("the text of the layer has %d bytes; expected at most %d", len(text), longestNotation)
	}
	c, err := readCall(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a layer: %w; expected a layer such as ReLU() or Conv2d(3, 32, kernel_size=3)",
			clipped(text), err)
	}
	k := slices.IndexFunc(kinds, func(k kind) bool { return k.name == c.name })
	if k < 0 {
		return nil, unknownKind(c.name)
	}
	a, err := kinds[k].bind(c)
	if err != nil {
		return nil, err
	}
	return kinds[k].build(a)
}

// clipped quotes the beginning of a text.
func clipped(text string) string {
	const most = 60
	if len(text) > most {
		return fmt.Sprintf("%q…", text[:most])
	}
	return fmt.Sprintf("%q", text)
}

func unknownKind(name string) error {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	if guess := words.Guess(name, names); guess != "" {
		return fmt.Errorf("unknown layer %s%s", clipped(name), guess)
	}
	return fmt.Errorf("unknown layer %s; expected one of: %s", clipped(name), strings.Join(names, ", "))
}

// bind assigns arguments to parameters, and fills in defaults.
func (k kind) bind(c call) (arguments, error) {
	bound := arguments{}
	for position, given := range c.arguments {
		p, err := k.parameter(position, given)
		if err != nil {
			return nil, err
		}
		if _, twice := bound[p.name]; twice {
			return nil, fmt.Errorf("%s: duplicate argument %s", k.name, p.name)
		}
		value, ok := p.want.read(given.value)
		if !ok {
			return nil, fmt.Errorf("%s: %s is %s, but must be %s", k.name, p.name, given.value.text, p.want.text)
		}
		bound[p.name] = value
	}
	return bound, k.complete(bound)
}

// parameter finds the parameter of an argument.
func (k kind) parameter(position int, given argument) (parameter, error) {
	if given.name == "" {
		if position >= len(k.parameters) {
			return parameter{}, fmt.Errorf("too many arguments; %s takes %s", k.name, k.takes())
		}
		return k.parameters[position], nil
	}
	var names []string
	for _, p := range k.parameters {
		if p.name == given.name {
			return p, nil
		}
		names = append(names, p.name)
	}
	guess := words.Guess(given.name, names)
	if guess == "" {
		guess = "; it takes " + k.takes()
	}
	return parameter{}, fmt.Errorf("%s has no argument %s%s", k.name, given.name, guess)
}

func (k kind) takes() string {
	if len(k.parameters) == 0 {
		return "no arguments"
	}
	var names []string
	for _, p := range k.parameters {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// complete fills in defaults and lists missing arguments.
func (k kind) complete(bound arguments) error {
	var missing []string
	for _, p := range k.parameters {
		if _, given := bound[p.name]; given {
			continue
		}
		if bound[p.name] = p.usual; p.usual == nil {
			missing = append(missing, p.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing arguments; %s requires %s", k.name, strings.Join(missing, ", "))
	}
	return nil
}

// call is a parsed notation.
type call struct {
	name      string
	arguments []argument
}

type argument struct {
	name  string // empty for a positional argument
	value literal
}

// readCall parses the text of a layer.
func readCall(text string) (call, error) {
	s := &scanner{rest: text}
	c := call{name: strings.TrimPrefix(strings.TrimPrefix(s.word(), "torch."), "nn.")}
	if c.name == "" {
		return c, errors.New("the name is missing")
	}
	if !s.take("(") {
		return c, fmt.Errorf("%s must be followed by its arguments in parentheses", c.name)
	}
	for !s.take(")") {
		given, err := s.argument()
		if err != nil {
			return c, err
		}
		if given.name == "" && len(c.arguments) > 0 && c.arguments[len(c.arguments)-1].name != "" {
			return c, fmt.Errorf("positional argument %s follows a named argument", given.value.text)
		}
		c.arguments = append(c.arguments, given)
		if !s.separated(")") {
			return c, s.unexpected("a comma or a closing parenthesis")
		}
	}
	if s.skip(); s.rest != "" {
		return c, fmt.Errorf("unexpected text %s after the layer", clipped(s.rest))
	}
	return c, nil
}
