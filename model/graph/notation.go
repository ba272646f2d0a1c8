package graph

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/torch/weights"
)

// The notation of a node is a line such as
//
//	y, h = lstm.input(input=%x, params=[@rnn.w, @rnn.b], dropout=0.5, batch_first=true) in rnn
//
// with % before values and @ before tensors. Other operands are whole numbers, numbers with a point or an exponent,
// inf, true, false, none, types such as float32, texts in double quotes, and lists of these. A name with characters
// other than letters, digits, points and underscores is in double quotes. The shapes of the results, such as -> [batch,
// 64], follow the arguments of an operator that graft passes on to LibTorch.

// String formats the node as text, such as y = relu.default(self=%x). ParseNode parses this text.
func (n Node) String() string {
	var b strings.Builder
	for k, v := range n.Results {
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteName(string(v)))
	}
	if len(n.Results) > 0 {
		b.WriteString(" = ")
	}
	b.WriteString(quoteName(n.Operator) + "(")
	for k, a := range n.Args {
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteName(a.Name) + "=" + operandText(a.Value))
	}
	b.WriteString(")")
	if n.Returns != nil {
		b.WriteString(" -> " + returnsText(n.Returns))
	}
	if n.Module != "" {
		b.WriteString(" in " + quoteName(n.Module))
	}
	return b.String()
}

func isNameByte(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func quoteName(name string) string {
	for k := range len(name) {
		if !isNameByte(name[k]) {
			return strconv.Quote(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

func operandText(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case Value:
		return "%" + quoteName(string(v))
	case Weight:
		return "@" + quoteName(string(v))
	case string:
		return strconv.Quote(v)
	case float64:
		return floatText(v)
	case []any:
		items := make([]string, len(v))
		for k := range v {
			items[k] = operandText(v[k])
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(value)
}

// floatText formats a number with a point or an exponent, to distinguish it from a whole number.
func floatText(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// ParseNode parses the text that Node.String returns.
func ParseNode(text string) (Node, error) {
	p := &nodeParser{text: text}
	n := p.node()
	if p.err == nil && p.at < len(p.text) {
		p.fail("expected the end of the text")
	}
	if p.err != nil {
		return Node{}, p.err
	}
	return n, nil
}

// nodeParser reads from left to right and keeps the first error; after it, the position stays.
type nodeParser struct {
	text string
	at   int
	err  error
}

func (p *nodeParser) fail(expected string) {
	if p.err == nil {
		p.err = fmt.Errorf("column %d: %s, got %.20q", p.at+1, expected, p.text[p.at:])
	}
}

// take skips spaces and consumes a token if it comes next.
func (p *nodeParser) take(token string) bool {
	rest := strings.TrimLeft(p.text[p.at:], " ")
	if p.err != nil || !strings.HasPrefix(rest, token) {
		return false
	}
	p.at = len(p.text) - len(rest) + len(token)
	return true
}

func (p *nodeParser) expect(token string) {
	if !p.take(token) {
		p.fail("expected " + strconv.Quote(token))
	}
}

// quoted reads a text in double quotes if one comes next.
func (p *nodeParser) quoted() (string, bool) {
	p.take("")
	if p.err != nil || !strings.HasPrefix(p.text[p.at:], `"`) {
		return "", false
	}
	prefix, err := strconv.QuotedPrefix(p.text[p.at:])
	if err != nil {
		p.fail("expected a string in double quotes")
		return "", false
	}
	text, _ := strconv.Unquote(prefix)
	p.at += len(prefix)
	return text, true
}

// word reads name characters, and signs if they are allowed; it may be empty.
func (p *nodeParser) word(signs string) string {
	p.take("")
	end := p.at
	for p.err == nil && end < len(p.text) && (isNameByte(p.text[end]) || strings.IndexByte(signs, p.text[end]) >= 0) {
		end++
	}
	word := p.text[p.at:end]
	p.at = end
	return word
}

func (p *nodeParser) name() string {
	if text, ok := p.quoted(); ok {
		return text
	}
	word := p.word("")
	if word == "" {
		p.fail("expected a name")
	}
	return word
}

func (p *nodeParser) node() Node {
	var n Node
	names := []string{p.name()}
	for p.take(",") {
		names = append(names, p.name())
	}
	if p.take("=") {
		for _, name := range names {
			n.Results = append(n.Results, Value(name))
		}
		names = []string{p.name()}
	}
	if len(names) != 1 {
		p.fail(`expected "="`)
		return n
	}
	n.Operator = names[0]
	p.expect("(")
	for p.err == nil && !p.take(")") {
		if len(n.Args) > 0 {
			p.expect(",")
		}
		a := Arg{Name: p.name()}
		p.expect("=")
		a.Value = p.operand(0)
		n.Args = append(n.Args, a)
	}
	if p.take("->") {
		n.Returns = p.returns()
	}
	if p.take("in ") {
		n.Module = p.name()
	}
	p.take("")
	return n
}

func (p *nodeParser) operand(depth int) any {
	if text, ok := p.quoted(); ok {
		return text
	}
	switch {
	case p.err != nil:
		return nil
	case p.take("%"):
		return Value(p.name())
	case p.take("@"):
		return Weight(p.name())
	case p.take("["):
		return p.list(depth)
	}
	start := p.at
	if value, ok := literal(p.word("+-")); ok {
		return value
	}
	p.at = start
	p.fail("expected an operand")
	return nil
}

func (p *nodeParser) list(depth int) any {
	list := []any{}
	if depth > 0 {
		p.fail("a list must not contain a list")
	}
	for p.err == nil && !p.take("]") {
		if len(list) > 0 {
			p.expect(",")
		}
		list = append(list, p.operand(depth+1))
	}
	return list
}

// literal reads a word or a number.
func literal(word string) (any, bool) {
	switch word {
	case "none":
		return nil, true
	case "true", "false":
		return word == "true", true
	case "inf", "-inf", "nan":
		v, _ := strconv.ParseFloat(word, 64)
		return v, true
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n, true
	}
	var dtype weights.DType
	if dtype.UnmarshalText([]byte(word)) == nil {
		return dtype, true
	}
	if word == "" || !slices.Contains([]byte("+-.0123456789"), word[0]) || strings.Contains(word, "_") {
		return nil, false
	}
	v, err := strconv.ParseFloat(word, 64)
	return v, err == nil && !math.IsInf(v, 0)
}
