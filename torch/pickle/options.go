package pickle

// Defaults of Options. They let in every file of the size that graft meets, a
// CIFAR-10 batch of 31 MB included, and keep a hostile one below about 1 GB.
const (
	defaultMaxBytes   = 256 << 20
	defaultMaxString  = 64 << 20
	defaultMaxStack   = 1 << 20
	defaultMaxMemo    = 1 << 20
	defaultMaxObjects = 1 << 22
)

// Constructor makes the value of a call that a pickle asks for: f(*args), or
// cls(*args) for a new object. It must not keep or change args.
type Constructor func(args Tuple) (any, error)

// Builder is a value that takes the state which a pickle attaches to an object
// after it was made. Values that a Constructor returns may implement it; for
// others such a state is an error.
type Builder interface {
	Build(state any) error
}

// Options limit the functions and the size of a pickle. The zero value allows plain values only
// and has the default limits.
type Options struct {
	// Constructors are the Python functions and classes that may be called, by
	// "module.name". OrderedDict, set, frozenset, bytearray and _codecs.encode
	// are always there. Nil adds none.
	Constructors map[string]Constructor
	// Persistent makes the value for a persistent id. With nil, a pickle that
	// has one is an error.
	Persistent func(id any) (any, error)

	// MaxBytes bounds the bytes that are read, and on their own the bytes that
	// are made by decoding and by constructors. Zero means 256 MiB.
	MaxBytes int64
	// MaxString bounds the bytes of one string. Zero means 64 MiB.
	MaxString int64
	// MaxStack bounds the values on the stack. Zero means 1,048,576.
	MaxStack int
	// MaxMemo bounds the numbered values that a pickle can refer back to. Zero
	// means 1,048,576.
	MaxMemo int
	// MaxObjects bounds how often a value is put on the stack, and with it the
	// entries of all lists and dicts. Zero means 4,194,304.
	MaxObjects int
}

// withDefaults fills in the limits that are zero.
func (o Options) withDefaults() Options {
	setDefault(&o.MaxBytes, defaultMaxBytes)
	setDefault(&o.MaxString, defaultMaxString)
	setDefault(&o.MaxStack, defaultMaxStack)
	setDefault(&o.MaxMemo, defaultMaxMemo)
	setDefault(&o.MaxObjects, defaultMaxObjects)
	return o
}

func setDefault[T int | int64](limit *T, value T) {
	if *limit == 0 {
		*limit = value
	}
}
