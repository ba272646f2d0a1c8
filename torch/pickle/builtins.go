package pickle

// bytesMade is the memory, in bytes, that a call may have allocated for a value.
func bytesMade(value any) int {
	switch v := value.(type) {
	case []byte:
		return len(v)
	case *Array:
		return len(v.Data)
	}
	return 0
}

// orderedDict makes an OrderedDict, empty or from the pairs that Python 2 passes as a list of lists.
func (m *machine) orderedDict(args Tuple) (any, error) {
	d := &Dict{Ordered: true}
	if len(args) == 0 {
		return d, nil
	}
	list, ok := args[0].(*List)
	if !ok || len(args) != 1 {
		return nil, malformed("expected one list, got %d arguments", len(args))
	}
	for _, item := range list.Items {
		pair, err := asItems(item)
		if err != nil || len(pair) != 2 {
			return nil, malformed("an entry is not a pair")
		}
		m.charge(1)
		m.setItem(d, pair[0], pair[1])
	}
	return d, m.err
}

func asItems(value any) (Tuple, error) {
	switch v := value.(type) {
	case Tuple:
		return v, nil
	case *List:
		return v.Items, nil
	}
	return nil, malformed("a %T has no items", value)
}

// encodeLatin1 decodes the bytes of protocol 2, which has no opcode for them and writes a text with the same code
// points.
func encodeLatin1(args Tuple) (any, error) {
	if len(args) != 2 || (args[1] != "latin1" && args[1] != "latin-1") {
		return nil, malformed("unsupported encoding; expected latin1")
	}
	text, ok := args[0].(string)
	if !ok {
		return nil, malformed("cannot encode a %T", args[0])
	}
	return latin1Bytes(text)
}

// newBytes makes bytes from nothing, from bytes, or from a text and "latin-1".
func newBytes(args Tuple) (any, error) {
	switch len(args) {
	case 0:
		return []byte{}, nil
	case 1:
		if data, ok := args[0].([]byte); ok {
			return append([]byte{}, data...), nil
		}
	case 2:
		return encodeLatin1(args)
	}
	return nil, malformed("invalid arguments for bytes")
}

// newSet makes a set, empty or from the items of a list.
func (m *machine) newSet(args Tuple, frozen bool) (any, error) {
	if len(args) == 0 {
		return &Set{Frozen: frozen}, nil
	}
	items, err := asItems(args[0])
	if err != nil || len(args) != 1 {
		return nil, malformed("a set expects one list")
	}
	m.charge(len(items))
	return m.setOf(items, frozen), m.err
}
