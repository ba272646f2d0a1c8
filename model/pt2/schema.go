package pt2

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"graft/model/graph"
	"graft/torch/weights"
)

// dtypes are the numbers of types in the schema, which differ from LibTorch's. The missing types are complex,
// quantised, or have eight bits.
var dtypes = map[int]weights.DType{
	1: weights.Uint8, 2: weights.Int8, 3: weights.Int16, 4: weights.Int32, 5: weights.Int64,
	6: weights.Float16, 7: weights.Float32, 8: weights.Float64, 12: weights.Bool, 13: weights.BFloat16,
}

// program is the supported part of models/model.json.
type program struct {
	SchemaVersion struct{ Major, Minor int } `json:"schema_version"`
	GraphModule   struct {
		Graph     graphPart `json:"graph"`
		Signature struct {
			Inputs  []union `json:"input_specs"`
			Outputs []union `json:"output_specs"`
		} `json:"signature"`
		Modules []struct {
			Path string `json:"fqn"`
		} `json:"module_call_graph"`
	} `json:"graph_module"`
}

// graphPart holds the operators of the network, or of a part of it.
type graphPart struct {
	Inputs       []union          `json:"inputs"`
	Outputs      []union          `json:"outputs"`
	Nodes        []node           `json:"nodes"`
	TensorValues map[string]*meta `json:"tensor_values"`
}

// node is an operator's call.
type node struct {
	Target string `json:"target"`
	Inputs []struct {
		Name string `json:"name"`
		Arg  union  `json:"arg"`
	} `json:"inputs"`
	Outputs  []union `json:"outputs"`
	Metadata struct {
		Stack string `json:"nn_module_stack"`
	} `json:"metadata"`
}

// meta describes a tensor.
type meta struct {
	DType   int       `json:"dtype"`
	Sizes   []integer `json:"sizes"`
	Strides []integer `json:"strides"`
	Offset  integer   `json:"storage_offset"`
	Layout  int       `json:"layout"`
	Grad    *bool     `json:"requires_grad"` // nil if the archive does not say
}

// union is an object whose only key names the type of its value.
type union struct {
	kind string
	body json.RawMessage
}

// constant reports whether the value of an input or output is no tensor, such as None or a number.
func (u *union) constant() bool {
	return slices.Contains([]string{"as_none", "as_int", "as_float", "as_bool", "as_string"}, u.kind)
}

// UnmarshalJSON reads the type from the object's only key, and keeps the value unparsed.
func (u *union) UnmarshalJSON(text []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	if len(object) != 1 {
		return fmt.Errorf("an object has %d keys, expected a single key that names its type: %.60s", len(object), text)
	}
	for u.kind, u.body = range object {
	}
	return nil
}

// integer is a number, the name of a symbolic one, or an expression with the example's number.
type integer struct {
	number     int64
	name       string // name of a value; empty for numbers and expressions
	expression string
}

// UnmarshalJSON accepts a number, the name of a value, or an expression with an example value.
func (i *integer) UnmarshalJSON(text []byte) error {
	var u union
	if err := json.Unmarshal(text, &u); err != nil {
		return err
	}
	switch u.kind {
	case "as_int":
		return json.Unmarshal(u.body, &i.number)
	case "as_name":
		return json.Unmarshal(u.body, &i.name)
	case "as_expr":
		var e struct {
			Text string `json:"expr_str"`
			Hint *struct {
				Int *int64 `json:"as_int"`
			} `json:"hint"`
		}
		if err := json.Unmarshal(u.body, &e); err != nil {
			return err
		}
		if e.Hint == nil || e.Hint.Int == nil {
			return fmt.Errorf("the symbolic size %.80s has no example value", e.Text)
		}
		i.number, i.expression = *e.Hint.Int, e.Text
		return nil
	}
	return fmt.Errorf("unsupported size of kind %q", u.kind)
}

// shape returns the sizes of the example.
func (m *meta) shape() ([]int, error) {
	shape := make([]int, len(m.Sizes))
	for k, size := range m.Sizes {
		if size.number < 0 || size.number > math.MaxInt32 || size.name != "" {
			return nil, fmt.Errorf("invalid size %d; expected a constant from 0 to %d", size.number,
				math.MaxInt32)
		}
		shape[k] = int(size.number)
	}
	return shape, nil
}

// parse reads the text of a program.
func parse(text []byte) (*program, error) {
	if err := graph.BoundJSON(text); err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	p := &program{}
	if err := json.Unmarshal(quoteNumbers(text), p); err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	if v := p.SchemaVersion; v.Major < earliestMajor || v.Major > latestMajor {
		return nil, fmt.Errorf("the program has schema version %d.%d, expected %d or %d; "+
			"save the program again with PyTorch 2.5 or later", v.Major, v.Minor, earliestMajor, latestMajor)
	}
	return p, nil
}

// Major versions of SCHEMA_VERSION in torch/_export/serde/schema.py. PyTorch 2.5 writes 7, later versions write 8. A
// larger minor version only adds fields.
const (
	earliestMajor = 7
	latestMajor   = 8
)

// quoteNumbers puts quotes around the numbers of PyTorch 2.5 that JSON does not have. Other text stays as it is.
func quoteNumbers(text []byte) []byte {
	var out []byte
	from, quoted := 0, false
	for k := 0; k < len(text); k++ {
		switch c := text[k]; {
		case quoted && c == '\\':
			k++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == 'I' || c == 'N' || c == '-':
			word := notJSON.Find(text[k:min(len(text), k+len("-Infinity"))])
			if word == nil {
				continue
			}
			out = append(out, text[from:k]...)
			out = append(append(append(out, '"'), word...), '"')
			k += len(word) - 1
			from = k + 1
		}
	}
	if from == 0 {
		return text
	}
	return append(out, text[from:]...)
}

var notJSON = regexp.MustCompile(`^(-?Infinity|NaN)`)

// real reads a number; numbers that JSON cannot represent are texts.
func real(text json.RawMessage) (float64, error) {
	var word string
	if err := json.Unmarshal(text, &word); err == nil {
		switch word {
		case "Infinity":
			return math.Inf(1), nil
		case "-Infinity":
			return math.Inf(-1), nil
		case "NaN":
			return math.NaN(), nil
		}
		return 0, fmt.Errorf("%.40q is not a number", word)
	}
	var number json.Number
	if err := json.Unmarshal(text, &number); err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(number.String(), 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%.40s is out of range", number)
	}
	return f, err
}
