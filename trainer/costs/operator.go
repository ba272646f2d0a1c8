package costs

// Precision is the number format of an operator.
type Precision int

// The precisions. Half is the default: 2 bytes per value, float16 or bfloat16. Single has 4 bytes.
const (
	Half Precision = iota
	Single
)

// Width returns the size of a value in bytes.
func (p Precision) Width() float64 {
	if p == Single {
		return 4
	}
	return 2
}

// Kind classifies operators by the work that determines their time: memory traffic, a matrix product or an all-reduce.
type Kind int

// The kinds. Traffic only moves bytes, such as an activation function. Product multiplies matrices. AllReduce sums a
// message over devices.
const (
	Traffic Kind = iota
	Product
	AllReduce
)

// String returns the name of the kind.
func (k Kind) String() string {
	switch k {
	case Product:
		return "product"
	case AllReduce:
		return "all-reduce"
	}
	return "traffic"
}

// Operator is work that the host launches once. The zero Operator takes only the time of a launch.
type Operator struct {
	Name      string // name in listings
	Kind      Kind   // kind; zero means Traffic
	Precision Precision
	// dimensions of a Product: it multiplies Batch pairs of a Rows x Inner and an Inner x Columns matrix; other kinds
	// ignore these fields
	Rows, Columns, Inner, Batch int
	// number of bytes that a Traffic operator reads and writes, or size of an AllReduce message; a Product ignores this
	// field
	Bytes float64
	Group Group // devices of an AllReduce
}

// Group is a set of devices that sum a message in an AllReduce. Ranks are numbered so that neighbours share a server.
type Group struct {
	Ranks  int // number of devices; zero and one mean no communication
	Stride int // distance between the ranks of neighbours in the group; zero means 1
}

// Operations returns the number of floating-point operations of an operator. A multiply-add counts as two.
func (o *Operator) Operations() float64 {
	if o.Kind != Product {
		return 0
	}
	return 2 * float64(o.Rows) * float64(o.Columns) * float64(o.Inner) * float64(o.Batch)
}

// Traffic returns the number of bytes that an operator reads from memory and writes to it, if each operand is moved
// once. It is zero for an AllReduce, whose time depends on the links and not on memory.
func (o *Operator) Traffic() float64 {
	switch o.Kind {
	case Traffic:
		return o.Bytes
	case Product:
		rows, columns, inner := float64(o.Rows), float64(o.Columns), float64(o.Inner)
		return float64(o.Batch) * (rows*columns + columns*inner + rows*inner) * o.Precision.Width()
	}
	return 0
}

// Moved returns the number of bytes that an operator moves through memory or over links.
func (o *Operator) Moved() float64 {
	if o.Kind == AllReduce {
		return o.Bytes
	}
	return o.Traffic()
}

func traffic(name string, bytes float64) Operator { return Operator{Name: name, Bytes: bytes} }

func product(name string, rows, columns, inner int) Operator {
	return products(name, rows, columns, inner, 1)
}

func products(name string, rows, columns, inner, batch int) Operator {
	return Operator{Name: name, Kind: Product, Rows: rows, Columns: columns, Inner: inner, Batch: batch}
}

func allReduce(name string, bytes float64, g Group) Operator {
	return Operator{Name: name, Kind: AllReduce, Bytes: bytes, Group: g}
}
