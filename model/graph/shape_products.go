package graph

import (
	"slices"
	"strings"
)

func dotShape(s *shaper) [][]int {
	a, b := s.first(), s.shape("tensor")
	if len(a) != 1 || !slices.Equal(a, b) {
		s.fail("expected two vectors of equal length, got shapes %v and %v", a, b)
	}
	return one([]int{})
}

func mvShape(s *shaper) [][]int {
	a, b := s.first(), s.shape("vec")
	if len(a) != 2 || len(b) != 1 || a[1] != b[0] {
		s.fail("cannot multiply a matrix of shape %v and a vector of shape %v", a, b)
		return nil
	}
	return one(a[:1])
}

// bilinearShape infers shapes for products of two inputs with a weight per output.
func bilinearShape(s *shaper) [][]int {
	a, b, weight := s.shape("input1"), s.shape("input2"), s.shape("weight")
	n := len(a)
	if n < 1 || len(b) != n || len(weight) != 3 || !slices.Equal(a[:n-1], b[:n-1]) || a[n-1] != weight[1] ||
		b[n-1] != weight[2] {
		s.fail("the inputs of shapes %v and %v do not fit the weight of shape %v", a, b, weight)
		return nil
	}
	s.checkBias(weight[0])
	return one(with(a, n-1, weight[0]))
}

// cdistShape infers shapes for the distances between the rows of two matrices, or of batches of them.
func cdistShape(s *shaper) [][]int {
	a, b := s.shape("x1"), s.shape("x2")
	if len(a) < 2 || len(b) < 2 || a[len(a)-1] != b[len(b)-1] {
		s.fail("expected matrices of rows of equal length, got shapes %v and %v", a, b)
		return nil
	}
	return one(append(s.broadcast(a[:len(a)-2], b[:len(b)-2]), a[len(a)-2], b[len(b)-2]))
}

func cosineShape(s *shaper) [][]int {
	out := s.broadcast(s.shape("x1"), s.shape("x2"))
	dim := s.dim("dim", 1, len(out))
	if s.err != nil {
		return nil
	}
	return one(slices.Delete(out, dim, dim+1))
}

func einsumShape(s *shaper) [][]int {
	sizes, out := s.einsum()
	shape := []int{}
	for _, letter := range out {
		size, known := sizes[letter]
		if !known || strings.Count(out, string(letter)) > 1 {
			s.fail("the result %q must have letters of the operands, each once", out)
		}
		shape = append(shape, size)
	}
	return one(shape)
}

// einsum returns the size of each letter in an equation of einsum, and the letters of the result. An operand of size 1
// is broadcast.
func (s *shaper) einsum() (sizes map[rune]int, out string) {
	text, _ := s.n.Arg("equation").(string)
	text = strings.ReplaceAll(text, " ", "")
	left, out, explicit := strings.Cut(text, "->")
	terms, operands := strings.Split(left, ","), s.list("tensors")
	if strings.Trim(left+out, letters+",") != "" || len(terms) != len(operands) {
		s.fail("the equation %q does not have letters for each of %d operands; replace an ellipsis by letters", text,
			len(operands))
		return nil, ""
	}
	sizes = map[rune]int{}
	for k, term := range terms {
		if len(term) != len(operands[k]) {
			s.fail("the operand %q has the shape %v, expected %d dimensions", term, operands[k], len(term))
			return nil, ""
		}
		for at, letter := range term {
			size := operands[k][at]
			if known, twice := sizes[letter]; twice && known != size && known != 1 && size != 1 {
				s.fail("the letter %q has the sizes %d and %d", letter, known, size)
			} else if !twice || known == 1 {
				sizes[letter] = size
			}
		}
	}
	if !explicit { // letters that occur once, sorted
		for _, letter := range letters {
			if strings.Count(left, string(letter)) == 1 {
				out += string(letter)
			}
		}
	}
	return sizes, out
}

// letters are the names of dimensions in an equation of einsum, in order.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
