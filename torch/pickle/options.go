package pickle

// Defaults of Options. They allow every file that graft needs to read, including a CIFAR-10 batch of 31 MB, and keep
// the memory that a hostile file can use below about 1 GB.
const (
	defaultMaxBytes   = 256 << 20
	defaultMaxString  = 64 << 20
	defaultMaxStack   = 1 << 20
	defaultMaxMemo    = 1 << 20
	defaultMaxObjects = 1 << 22
)

// Constructor returns the value of a call in a pickle: f(*args), or cls(*args) for a new object. It must not keep or
// change args.
type Constructor func(args Tuple) (any, error)

// A pickle can attach a state to an object after creating it. Values that accept such a state implement Builder; a
// Constructor may return such values. A state for an object that does not implement Builder is an error.
type Builder interface {
	Build(state any) error
}

// Options limits the size of a pickle and the functions that it can call. The zero value allows only plain values and
// uses the default limits.
type Options struct {
	// Constructors holds the Python functions and classes that a pickle may call, by "module.name". OrderedDict, set,
	// frozenset, bytearray and _codecs.encode are always allowed. Nil adds none.
	Constructors map[string]Constructor
	// Persistent returns the value for a persistent id. If it is nil, a pickle with a persistent id is an error.
	Persistent func(id any) (any, error)

	// MaxBytes is the maximum number of bytes read, and also the maximum number of bytes that decoding and constructors
	// produce. Zero means 256 MiB.
	MaxBytes int64
	// MaxString is the maximum number of bytes in one string. Zero means 64 MiB.
	MaxString int64
	// MaxStack is the maximum number of values on the stack. Zero means 1,048,576.
	MaxStack int
	// MaxMemo is the maximum number of numbered values that a pickle can refer back to. Zero means 1,048,576.
	MaxMemo int
	// MaxObjects is the maximum number of pushes onto the stack, which also limits the entries of all lists and dicts.
	// Zero means 4,194,304.
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
