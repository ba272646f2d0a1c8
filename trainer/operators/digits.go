package operators

import "strconv"

// digits rounds to six decimal digits, since further digits would be noise.
func digits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 5, 64), 64)
	if err != nil {
		return v // unreachable: the text was just formatted
	}
	return rounded
}
