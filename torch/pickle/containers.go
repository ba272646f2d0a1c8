package pickle

var containers = map[byte]func(*machine) error{
	')':  func(m *machine) error { return m.push(Tuple{}) },              // EMPTY_TUPLE
	'}':  func(m *machine) error { return m.push(&Dict{}) },              // EMPTY_DICT
	']':  func(m *machine) error { return m.push(&List{}) },              // EMPTY_LIST
	0x8f: func(m *machine) error { return m.push(&Set{}) },               // EMPTY_SET
	0x85: func(m *machine) error { return m.tupleOf(1) },                 // TUPLE1
	0x86: func(m *machine) error { return m.tupleOf(2) },                 // TUPLE2
	0x87: func(m *machine) error { return m.tupleOf(3) },                 // TUPLE3
	't':  func(m *machine) error { return m.gather(asTuple) },            // TUPLE
	'l':  func(m *machine) error { return m.gather(asList) },             // LIST
	'd':  func(m *machine) error { return m.gather(m.asDict) },           // DICT
	0x91: func(m *machine) error { return m.gather(m.asFrozenSet) },      // FROZENSET
	'a':  func(m *machine) error { return m.extend(1, m.appendTo) },      // APPEND
	'e':  func(m *machine) error { return m.extend(toMark, m.appendTo) }, // APPENDS
	's':  func(m *machine) error { return m.extend(2, m.setItems) },      // SETITEM
	'u':  func(m *machine) error { return m.extend(toMark, m.setItems) }, // SETITEMS
	0x90: func(m *machine) error { return m.extend(toMark, m.addTo) },    // ADDITEMS
}

// toMark stands for as many values as there are above the last mark.
const toMark = -1

func (m *machine) tupleOf(n int) error {
	values, err := m.popN(n)
	if err != nil {
		return err
	}
	return m.push(values)
}

// gather makes one value of those above the last mark.
func (m *machine) gather(build func(Tuple) (any, error)) error {
	values, err := m.popMark()
	if err != nil {
		return err
	}
	value, err := build(values)
	if err != nil {
		return err
	}
	return m.push(value)
}

func asTuple(values Tuple) (any, error) { return values, nil }

func asList(values Tuple) (any, error) { return &List{Items: values}, nil }

func (m *machine) asDict(values Tuple) (any, error) {
	d := &Dict{}
	return d, m.setItems(d, values)
}

func (m *machine) asFrozenSet(values Tuple) (any, error) {
	s := &Set{}
	err := m.addTo(s, values)
	s.Frozen = true
	return s, err
}

// extend takes values off the stack and puts them into the one below.
func (m *machine) extend(n int, put func(into any, values Tuple) error) (err error) {
	var values Tuple
	if n == toMark {
		values, err = m.popMark()
	} else {
		values, err = m.popN(n)
	}
	if err != nil {
		return err
	}
	into, err := m.top()
	if err != nil {
		return err
	}
	return put(into, values)
}

func (m *machine) appendTo(into any, values Tuple) error {
	list, ok := into.(*List)
	if !ok {
		return malformed("appending to a %T", into)
	}
	list.Items = append(list.Items, values...)
	return nil
}

func (m *machine) setItems(into any, values Tuple) error {
	dict, ok := into.(*Dict)
	if !ok || len(values)%2 != 0 {
		return malformed("setting %d keys and values of a %T", len(values), into)
	}
	for i := 0; i < len(values); i += 2 {
		if err := m.setItem(dict, values[i], values[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) setItem(dict *Dict, key, value any) error {
	hash, err := hashKey(key)
	if err != nil {
		return err
	}
	if err := m.charge(len(hash)); err != nil {
		return err
	}
	dict.set(hash, key, value)
	return nil
}

func (m *machine) addTo(into any, values Tuple) error {
	set, ok := into.(*Set)
	if !ok || set.Frozen {
		return malformed("adding items to a %T", into)
	}
	for _, value := range values {
		if err := m.setItem(&set.items, value, nil); err != nil {
			return err
		}
	}
	return nil
}
