package dataset

import (
	"math/rand/v2"
)

// Painting uses only integers, so every machine paints the same pixels. Lengths are in sixteenths of a pixel unless
// stated otherwise.
const sixteenth = 16

// look is the appearance of a class.
type look struct{ shape, texture, period int }

const (
	disc = iota
	square
	triangle
	ring
	cross
)

const (
	rows = iota
	columns
	checks
	diamonds
)

var (
	shapeNames   = [...]string{disc: "disc", square: "square", triangle: "triangle", ring: "ring", cross: "cross"}
	textureNames = [...]string{rows: "rows", columns: "columns", checks: "checks", diamonds: "diamonds"}
	// Half a period, for images of 32 pixels.
	periods     = [...]int{40, 21, 76, 29, 55}
	periodNames = [...]string{"", "fine ", "wide ", "narrow ", "broad "}
)

const maxClasses = len(shapeNames) * len(textureNames) * len(periods)

// looks gives neighbouring classes different shapes first, then different textures, or textures first.
func looks(class int, textures bool) look {
	if textures {
		shape := class / len(textureNames)
		return look{shape % len(shapeNames), class % len(textureNames), shape / len(shapeNames)}
	}
	texture := class / len(shapeNames)
	return look{class % len(shapeNames), texture % len(textureNames), texture / len(textureNames)}
}

func (l look) name() string {
	return shapeNames[l.shape] + " of " + periodNames[l.period] + textureNames[l.texture]
}

// colour holds one value per channel; grey images use the first.
type colour [3]int

// canvas is an image being painted, with a plane per channel.
type canvas struct {
	pixels         []byte
	channels, side int
}

// patch is a shape with two colours in a texture.
type patch struct {
	look
	x, y, radius    int // the middle, and the distance from there to the edge
	tilt            int // sideways for 256 along, at most a quarter
	half, phase     int // half period and phase of the texture
	light, dark     colour
	horizontalPhase int
}

// paint fills the canvas with background, clutter, the shape of a class and noise.
func (c canvas) paint(l look, noise int, source *rand.PCG) {
	random := rand.New(source)
	c.background(random)
	side := c.side * sixteenth
	for range 2 + random.IntN(3) {
		other := look{random.IntN(len(shapeNames)), random.IntN(len(textureNames)), random.IntN(len(periods))}
		c.draw(newPatch(other, side, side/16+random.IntN(side/16), 0, random))
	}
	radius := side*9/32 + random.IntN(side*5/32)
	c.draw(newPatch(l, side, radius, radius*3/4, random))
	c.disturb(noise, source)
}

// background runs from one colour to another, down or right.
func (c canvas) background(random *rand.Rand) {
	from, to := anyColour(random), anyColour(random)
	down := random.IntN(2) == 0
	shades := make([]byte, c.side)
	for channel := range c.channels {
		plane := c.pixels[channel*c.side*c.side : (channel+1)*c.side*c.side]
		for at := range shades {
			shades[at] = byte(from[channel] + (to[channel]-from[channel])*at/(2*c.side))
		}
		for y := range c.side {
			row := plane[y*c.side : (y+1)*c.side]
			if !down {
				copy(row, shades)
				continue
			}
			for x := range row {
				row[x] = shades[y]
			}
		}
	}
}

func anyColour(random *rand.Rand) (c colour) {
	for k := range c {
		c[k] = random.IntN(256)
	}
	return c
}

// newPatch puts a shape at random so that its middle keeps a margin from the edge.
func newPatch(l look, side, radius, margin int, random *rand.Rand) patch {
	p := patch{look: l, radius: radius}
	p.x, p.y = margin+random.IntN(side-2*margin), margin+random.IntN(side-2*margin)
	p.tilt = random.IntN(129) - 64
	p.half = max(1, periods[l.period]*side/(defaultSize*sixteenth)*(112+random.IntN(33))/128)
	p.phase, p.horizontalPhase = random.IntN(2*p.half), random.IntN(2*p.half)
	p.light, p.dark = twoColours(random)
	return p
}

// twoColours returns colours that differ by 48 to 143 in one channel and by at most that in the others.
func twoColours(random *rand.Rand) (light, dark colour) {
	middle, apart, most := anyColour(random), 48+random.IntN(96), random.IntN(3)
	for k := range middle {
		difference := apart
		if k != most {
			difference = random.IntN(2*apart+1) - apart
		}
		light[k], dark[k] = clamp(middle[k]+difference/2), clamp(middle[k]-difference/2)
	}
	return light, dark
}

func clamp(value int) int { return max(0, min(255, value)) }

// draw paints the pixels whose middle lies in the patch.
func (c canvas) draw(p patch) {
	reach := p.radius*5/4 + sixteenth
	first := func(at int) int { return max(0, (at-reach)/sixteenth) }
	last := func(at int) int { return min(c.side, (at+reach)/sixteenth+1) }
	for y := first(p.y); y < last(p.y); y++ {
		for x := first(p.x); x < last(p.x); x++ {
			dx, dy := x*sixteenth+sixteenth/2-p.x, y*sixteenth+sixteenth/2-p.y
			dx, dy = dx+dy*p.tilt/256, dy-dx*p.tilt/256
			if !p.covers(dx, dy) {
				continue
			}
			ink := p.dark
			if p.lights(dx, dy) {
				ink = p.light
			}
			for channel := range c.channels {
				c.pixels[(channel*c.side+y)*c.side+x] = byte(ink[channel])
			}
		}
	}
}

// covers reports whether a place, relative to the middle, lies in the shape.
func (p patch) covers(dx, dy int) bool {
	r, squared := p.radius, dx*dx+dy*dy
	far, near := max(abs(dx), abs(dy)), min(abs(dx), abs(dy))
	switch p.shape {
	case disc:
		return squared <= r*r
	case square:
		return far <= r*7/8
	case triangle:
		return dy <= r && 2*abs(dx) <= dy+r
	case ring:
		return squared <= r*r && 4*squared >= r*r
	default: // cross
		return far <= r && 3*near <= r
	}
}

// lights reports whether a place has the light colour of the texture.
func (p patch) lights(dx, dy int) bool {
	stripe := func(along, phase int) bool {
		// Far enough to be positive: division rounds towards zero.
		return (along+phase+p.half*1024)/p.half%2 == 0
	}
	switch p.texture {
	case rows:
		return stripe(dy, p.phase)
	case columns:
		return stripe(dx, p.phase)
	case checks:
		return stripe(dx, p.horizontalPhase) != stripe(dy, p.phase)
	default: // diamonds: a diagonal is longer by the root of two
		return stripe((dx+dy)*181/256, p.horizontalPhase) != stripe((dx-dy)*181/256, p.phase)
	}
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}

// disturb adds noise to every pixel; small changes are more likely than large ones.
func (c canvas) disturb(noise int, source *rand.PCG) {
	var changes [511]int // by the sum of two random bytes
	for sum := range changes {
		changes[sum] = (sum - 255) * noise / 255
	}
	size := c.side * c.side
	for k := range size {
		bits := source.Uint64()
		for at := k; at < len(c.pixels); at += size {
			sum := bits&255 + bits>>8&255
			bits >>= 16
			c.pixels[at] = byte(clamp(int(c.pixels[at]) + changes[sum]))
		}
	}
}
