package costs

// Transformer is a language model of the GPT kind, trained in half precision without fused attention. Each of its
// layers consists of attention and two linear layers with a GELU between them. The zero Transformer is invalid.
type Transformer struct {
	Hidden     int // width of the model
	Heads      int // number of attention heads
	Layers     int // number of layers
	Sequence   int // tokens of a sequence
	Vocabulary int // number of tokens in the vocabulary
	// The vocabulary of each tensor-parallel part is padded to a multiple of this number; zero and 1 mean no padding.
	// Megatron-LM pads to 128.
	Padding int
}

// part is a micro batch of a model on one of several tensor-parallel devices.
type part struct {
	*Transformer
	sequences, ways int
}

// tokens returns the number of tokens of the micro batch.
func (p part) tokens() int { return p.sequences * p.Sequence }

// activation returns the bytes of the hidden activations, which every device holds in full.
func (p part) activation() float64 { return float64(p.tokens()) * float64(p.Hidden) * Half.Width() }

// share returns the bytes of hidden activations that are divided among the devices.
func (p part) share() float64 { return p.activation() / float64(p.ways) }

// scores returns the bytes of the device's attention scores.
func (p part) scores() float64 {
	return float64(p.sequences) * float64(p.Heads) / float64(p.ways) * float64(p.Sequence) * float64(p.Sequence) *
		Half.Width()
}

// vocabulary returns the device's part of the vocabulary.
func (p part) vocabulary() int {
	padding := max(1, p.Padding)
	return (p.Vocabulary + p.ways*padding - 1) / (p.ways * padding) * padding
}

// summed returns the all-reduce of a message over the tensor-parallel devices, or no operator for a single device.
func (p part) summed(name string, bytes float64) []Operator {
	if p.ways == 1 {
		return nil
	}
	return []Operator{allReduce(name, bytes, Group{Ranks: p.ways, Stride: 1})}
}

// Bytes per value that elementwise operators move, relative to a half-precision value: inputs, outputs and byte masks.
const (
	readWrite  = 2   // one input, one output
	twoToOne   = 3   // two inputs, one output
	maskedDrop = 2.5 // input, output and a mask of 1 byte per value
	addDrop    = 3.5 // two inputs, output and mask
	reduction  = 1   // input; the output is small
)

// layerForward lists the operators of a layer's forward pass.
func (p part) layerForward() []Operator {
	n, h, part, batch := p.tokens(), p.Hidden, p.Hidden/p.ways, p.sequences*p.Heads/p.ways
	s, head := p.Sequence, p.Hidden/p.Heads
	whole, share, scores := p.activation(), p.share(), p.scores()
	attention := []Operator{
		traffic("attention norm", readWrite*whole),
		product("query, key, value", n, 3*part, h),
		traffic("split heads", readWrite*3*share),
		products("scores", s, s, head, batch),
		traffic("masked softmax", readWrite*scores),
		traffic("attention dropout", maskedDrop*scores),
		products("values", s, head, s, batch),
		traffic("join heads", readWrite*share),
		product("attention output", n, h, part),
		traffic("attention residual", addDrop*whole),
	}
	feed := []Operator{
		traffic("feed norm", readWrite*whole),
		product("feed up", n, 4*part, h),
		traffic("GELU", readWrite*4*share),
		product("feed down", n, h, 4*part),
		traffic("feed residual", addDrop*whole),
	}
	return join(attention, p.summed("attention sum", whole), feed, p.summed("feed sum", whole))
}

// layerBackward lists the operators of a layer's backward pass. Each product has two: for its input and its weight.
func (p part) layerBackward() []Operator {
	whole := p.activation()
	feed := []Operator{
		traffic("feed residual backward", maskedDrop*whole),
		traffic("feed down bias backward", reduction*whole),
	}
	feed = append(feed, backward("feed down", p.tokens(), p.Hidden, 4*p.Hidden/p.ways)...)
	feed = append(feed,
		traffic("GELU backward", twoToOne*4*p.share()),
		traffic("feed up bias backward", reduction*4*p.share()))
	feed = append(feed, backward("feed up", p.tokens(), 4*p.Hidden/p.ways, p.Hidden)...)
	norm := func(name string) []Operator {
		return []Operator{
			traffic(name+" norm backward", (twoToOne+1)*whole), // adds the gradient of the residual
			traffic(name+" norm weights backward", reduction*whole),
		}
	}
	return join(feed, norm("feed"), p.summed("feed sum backward", whole),
		p.attentionBackward(), norm("attention"), p.summed("attention sum backward", whole))
}

func (p part) attentionBackward() []Operator {
	n, h, part, batch := p.tokens(), p.Hidden, p.Hidden/p.ways, p.sequences*p.Heads/p.ways
	s, head := p.Sequence, p.Hidden/p.Heads
	whole, share, scores := p.activation(), p.share(), p.scores()
	return join([]Operator{
		traffic("attention residual backward", maskedDrop*whole),
		traffic("attention output bias backward", reduction*whole),
	}, backward("attention output", n, h, part), []Operator{
		traffic("join heads backward", readWrite*share),
		products("values backward, scores", s, s, head, batch),
		products("values backward, values", s, head, s, batch),
		traffic("attention dropout backward", maskedDrop*scores),
		traffic("masked softmax backward", twoToOne*scores),
		products("scores backward, queries", s, head, s, batch),
		products("scores backward, keys", s, head, s, batch),
		traffic("split heads backward", readWrite*3*share),
		traffic("query, key, value bias backward", reduction*3*share),
	}, backward("query, key, value", n, 3*part, h))
}

// backward lists the two products of the backward pass of a product.
func backward(name string, rows, columns, inner int) []Operator {
	return []Operator{product(name+" backward, input", rows, inner, columns),
		product(name+" backward, weight", columns, inner, rows)}
}

// Bytes per logit of the loss. The logits are cast from half to single precision; maximum, difference, exponential, sum
// and quotient are separate operators; the backward pass scales the probabilities and casts them to half precision.
const (
	castUp      = 2 + 4
	readSingle  = 4
	passSingle  = 4 + 4
	castDown    = 4 + 2
	lossSums    = 3 // all-reduces of a value per token: maximum, sum, target
	singleBytes = 4
)

// head lists the operators of the output layer and the loss, forward and backward.
func (p part) head() (forward, back []Operator) {
	n, h, vocabulary := p.tokens(), p.Hidden, p.vocabulary()
	logits, whole := float64(n)*float64(vocabulary), p.activation()
	forward = []Operator{
		traffic("last norm", readWrite*whole),
		product("logits", n, vocabulary, h),
		traffic("logits to single precision", castUp*logits),
		traffic("largest logit", readSingle*logits),
		traffic("subtract largest", passSingle*logits),
		traffic("exponential", passSingle*logits),
		traffic("sum of exponentials", readSingle*logits),
		traffic("probabilities", passSingle*logits),
	}
	for range lossSums {
		forward = append(forward, p.summed("loss sum", singleBytes*float64(n))...)
	}
	back = []Operator{
		traffic("loss backward", passSingle*logits),
		traffic("logits to half precision", castDown*logits),
	}
	back = append(back, backward("logits", n, vocabulary, h)...)
	back = append(back, traffic("last norm backward", (twoToOne+1)*whole),
		traffic("last norm weights backward", reduction*whole))
	return forward, join(back, p.summed("logits sum backward", whole))
}

// embedding lists the operators of the input layer, forward and backward.
func (p part) embedding() (forward, back []Operator) {
	whole := p.activation()
	forward = []Operator{traffic("embedding", readWrite*whole)}
	forward = join(forward, p.summed("embedding sum", whole), []Operator{
		traffic("add positions", twoToOne*whole),
		traffic("embedding dropout", maskedDrop*whole),
	})
	return forward, []Operator{
		traffic("embedding dropout backward", maskedDrop*whole),
		traffic("embedding backward", twoToOne*whole),
	}
}

// layerParameters returns the matrix parameters of a layer on a device.
func (p part) layerParameters() float64 {
	return 12 * float64(p.Hidden) * float64(p.Hidden) / float64(p.ways)
}

// embeddingParameters returns the parameters of the device's part of the vocabulary and of the positions. The output
// layer uses the same parameters.
func (p part) embeddingParameters() float64 {
	return float64(p.vocabulary()+p.Sequence) * float64(p.Hidden)
}

// parameters returns the number of parameters of the whole model. The padding counts.
func (p part) parameters() float64 {
	positions := float64(p.Sequence) * float64(p.Hidden)
	return float64(p.ways)*(p.layerParameters()*float64(p.Layers)+p.embeddingParameters()-positions) + positions
}

func join(lists ...[]Operator) (all []Operator) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
