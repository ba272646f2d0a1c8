package pickle

var containers = map[byte]func(*machine){
	')':  func(m *machine) { m.push(Tuple{}) },                    // EMPTY_TUPLE
	'}':  func(m *machine) { m.push(&Dict{}) },                    // EMPTY_DICT
	']':  func(m *machine) { m.push(&List{}) },                    // EMPTY_LIST
	0x8f: func(m *machine) { m.push(&Set{}) },                     // EMPTY_SET
	0x85: func(m *machine) { m.push(m.popN(1)) },                  // TUPLE1
	0x86: func(m *machine) { m.push(m.popN(2)) },                  // TUPLE2
	0x87: func(m *machine) { m.push(m.popN(3)) },                  // TUPLE3
	't':  func(m *machine) { m.push(m.popMark()) },                // TUPLE
	'l':  func(m *machine) { m.push(&List{Items: m.popMark()}) },  // LIST
	'd':  (*machine).dict,                                         // DICT
	0x91: func(m *machine) { m.push(m.setOf(m.popMark(), true)) }, // FROZENSET
	'a':  func(m *machine) { m.appendTo(m.popN(1)) },              // APPEND
	'e':  func(m *machine) { m.appendTo(m.popMark()) },            // APPENDS
	's':  func(m *machine) { m.setItems(m.popN(2)) },              // SETITEM
	'u':  func(m *machine) { m.setItems(m.popMark()) },            // SETITEMS
	0x90: func(m *machine) { m.addItems(m.popMark()) },            // ADDITEMS
}

func (m *machine) dict() {
	values := m.popMark()
	m.push(&Dict{})
	m.setItems(values)
}

// setOf makes a set of values.
func (m *machine) setOf(values Tuple, frozen bool) *Set {
	s := &Set{Frozen: frozen}
	for _, value := range values {
		m.setItem(&s.items, value, nil)
	}
	return s
}

func (m *machine) appendTo(values Tuple) {
	into := m.top()
	list, ok := into.(*List)
	if !ok {
		m.malformed("cannot append to a %T", into)
		return
	}
	list.Items = append(list.Items, values...)
}

func (m *machine) setItems(values Tuple) {
	into := m.top()
	dict, ok := into.(*Dict)
	if !ok || len(values)%2 != 0 {
		m.malformed("cannot set %d keys and values of a %T", len(values), into)
		return
	}
	for i := 0; i < len(values); i += 2 {
		m.setItem(dict, values[i], values[i+1])
	}
}

func (m *machine) setItem(dict *Dict, key, value any) {
	if m.err != nil {
		return
	}
	hash, err := hashKey(key)
	m.fail(err)
	m.charge(len(hash))
	if m.err == nil {
		dict.set(hash, key, value)
	}
}

func (m *machine) addItems(values Tuple) {
	into := m.top()
	set, ok := into.(*Set)
	if !ok || set.Frozen {
		m.malformed("cannot add items to a %T", into)
		return
	}
	for _, value := range values {
		m.setItem(&set.items, value, nil)
	}
}
