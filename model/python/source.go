package python

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"graft/model"
)

// Options configures the Python module that Source returns.
type Options struct {
	// Weights is the name of a weights file (.pth or .safetensors) in the module's folder. The module's load function
	// reads this file by default.
	Weights string
	// Mean and Deviation hold the mean and the standard deviation of each channel, for normalising pixels from 0 to 1.
	// Nil omits the module's normalize function.
	Mean, Deviation []float64
	// Classes names the outputs in order. Nil omits the list CLASSES.
	Classes []string
}

// Source returns the text of a Python module with the network's class and a load function. The module needs only
// PyTorch.
func Source(n *model.Network, o Options) (string, error) {
	if err := n.Check(); err != nil {
		return "", err
	}
	if n.Graph != nil {
		return graphSource(n, o), nil
	}
	w := &writer{taken: map[string]bool{"nn": true, "torch": true, "json": true, "os": true, "load": true, "read": true,
		"_beside": true, "normalize": true, "CLASSES": true}, classes: map[string]string{}}
	root := w.identifier(n.Name(), "Network")
	parts, err := w.parts(n.Root, "            ")
	if err != nil {
		return "", err
	}
	forward, err := w.forward(n.Root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, head, inDocstring.Replace(n.Name()), n.Input, inDocstring.Replace(o.Weights))
	b.WriteString(w.text.String())
	fmt.Fprintf(&b, "\n\nclass %s(_Parts):\n", root)
	if root != n.Name() {
		fmt.Fprintf(&b, "    _name = %s\n\n", quote(n.Name()))
	}
	fmt.Fprintf(&b, "    def __init__(self):\n        super().__init__(\n%s        )\n\n%s", parts, forward)
	b.WriteString(o.images())
	fmt.Fprintf(&b, tail, quote(o.Weights), root, "net.load_state_dict(read(path))", root)
	return b.String(), nil
}

// images returns the code of CLASSES and normalize, if the options have them.
func (o Options) images() (text string) {
	if o.Classes != nil {
		text = fmt.Sprintf(classNames, names(o.Classes))
	}
	if o.Mean != nil {
		text += fmt.Sprintf(normalization, numbers(o.Mean), numbers(o.Deviation))
	}
	return text
}

// writer collects the classes of containers.
type writer struct {
	text    strings.Builder
	taken   map[string]bool   // identifiers
	classes map[string]string // identifiers by printed name and forward
}

var (
	identifierForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	notAllowed     = regexp.MustCompile(`[^A-Za-z0-9_]`)
	keywords       = strings.Fields("False None True and as assert async await break class continue def del " +
		"elif else except finally for from global if import in is lambda nonlocal not or pass raise return try " +
		"while with yield")
)

var inDocstring = strings.NewReplacer("\\", "/", "\"", "'")

func isIdentifier(name string) bool {
	return identifierForm.MatchString(name) && !slices.Contains(keywords, name)
}

// identifier returns the printed name of a class if it is a valid identifier, and a similar free one otherwise.
func (w *writer) identifier(name, usual string) string {
	stem := notAllowed.ReplaceAllString(name, "_")
	if !isIdentifier(stem) {
		stem = usual
	}
	for k, free := 1, stem; ; k++ {
		if !w.taken[free] {
			w.taken[free] = true
			return free
		}
		free = fmt.Sprint(stem, "_", k)
	}
}

// parts returns the children of a container as arguments of _Parts.
func (w *writer) parts(c *model.Container, indent string) (string, error) {
	var b strings.Builder
	for _, child := range c.Children {
		made, err := w.module(child.Module, indent)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s(%s, %s),\n", indent, quote(child.Name), made)
	}
	return b.String(), nil
}

// module returns an expression that makes a module.
func (w *writer) module(m model.Module, indent string) (string, error) {
	c, ok := m.(*model.Container)
	if !ok {
		return "nn." + model.Notation(m.(*model.Leaf).Layer), nil
	}
	parts, err := w.parts(c, indent+"    ")
	if err != nil {
		return "", err
	}
	class, err := w.class(c)
	if err != nil {
		return "", err
	}
	if class == sequential {
		return fmt.Sprintf("nn.Sequential(OrderedDict([\n%s%s]))", parts, indent), nil
	}
	return fmt.Sprintf("%s(\n%s%s)", class, parts, indent), nil
}

// sequential is the class of plain chains, PyTorch's own.
const sequential = "Sequential"

// class returns the class of a container; it writes the class at its first use.
func (w *writer) class(c *model.Container) (string, error) {
	name := model.ClassName(c)
	if name == sequential && plain(c) {
		return sequential, nil
	}
	forward, err := w.forward(c)
	if err != nil {
		return "", err
	}
	if known, ok := w.classes[name+"\n"+forward]; ok {
		return known, nil
	}
	w.taken[sequential] = true
	class := w.identifier(name, "Block")
	w.classes[name+"\n"+forward] = class
	fmt.Fprintf(&w.text, "\n\nclass %s(_Parts):\n", class)
	if class != name {
		fmt.Fprintf(&w.text, "    _name = %s\n\n", quote(name))
	}
	w.text.WriteString(forward)
	return class, nil
}

// plain reports whether a container runs all its children in order, as nn.Sequential does.
func plain(c *model.Container) bool {
	if c.Flow.Join != model.Chain || len(c.Flow.Then) > 0 {
		return false
	}
	var names []string
	for _, child := range c.Children {
		names = append(names, child.Name)
	}
	return slices.Equal(names, c.Steps(model.BodyLane))
}

// forward returns the method of a container.
func (w *writer) forward(c *model.Container) (string, error) {
	var b strings.Builder
	b.WriteString("    def forward(self, x):\n")
	line := func(format string, values ...any) { fmt.Fprintf(&b, "        "+format+"\n", values...) }
	chain := func(to, from string, l model.Lane) {
		for _, name := range c.Steps(l) {
			line("%s = %s", to, step(c, name, from))
			from = to
		}
	}
	switch c.Flow.Join {
	case model.Sum:
		body, shortcut := c.Steps(model.BodyLane), c.Steps(model.ShortcutLane)
		line("y, z = %s, x", kept(c, body))
		chain("y", "y", model.BodyLane)
		if len(shortcut) > 0 {
			chain("z", "z", model.ShortcutLane)
		}
		line("x = y + z")
	case model.Cat:
		var branches []string
		for _, name := range c.Steps(model.BodyLane) {
			branches = append(branches, step(c, name, kept(c, []string{name})))
		}
		line("x = torch.cat([%s], 1)", strings.Join(branches, ", "))
	default:
		chain("x", "x", model.BodyLane)
	}
	chain("x", "x", model.ThenLane)
	line("return x")
	return b.String(), nil
}

// step returns the expression of a step of a flow.
func step(c *model.Container, name, x string) string {
	switch {
	case name == model.FlattenStep:
		return fmt.Sprintf("torch.flatten(%s, 1)", x)
	case name == model.PoolStep:
		return fmt.Sprintf("nn.functional.adaptive_avg_pool2d(%s, 1)", x)
	case isIdentifier(name):
		return fmt.Sprintf("self.%s(%s)", name, x)
	default:
		return fmt.Sprintf("self._modules[%s](%s)", quote(name), x)
	}
}

// kept returns the input of a branch: a copy if the branch begins with a layer that works in place, which would affect
// the other branch.
func kept(c *model.Container, steps []string) string {
	if changesInput(c, steps) {
		return "x.clone()"
	}
	return "x"
}

func changesInput(c *model.Container, steps []string) bool {
	for _, name := range steps {
		switch m := c.Child(name).(type) {
		case *model.Container:
			return changesInput(m, m.Steps(model.BodyLane)) || changesInput(m, m.Steps(model.ShortcutLane))
		case *model.Leaf:
			switch l := m.Layer.(type) {
			case model.Identity, model.Flatten:
				continue
			case model.Dropout:
				if l.Inplace {
					return true
				}
				continue
			case model.Activation:
				return l.Inplace
			}
		}
		return false
	}
	return false
}

func numbers(values []float64) string {
	words := make([]string, len(values))
	for k, v := range values {
		words[k] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// names returns a tuple of strings, one per line.
func names(list []string) string {
	var b strings.Builder
	for _, name := range list {
		b.WriteString("    " + quote(name) + ",\n")
	}
	return "(\n" + b.String() + ")"
}

// quote returns a Python string. Go's escapes of printable ASCII and of \u are Python's.
func quote(text string) string { return strconv.QuoteToASCII(text) }
