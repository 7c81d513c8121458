package nn

import "fmt"

// Shape is the shape of one example: Height × Width × Channels, row-major. A
// vector of d numbers is 1 × 1 × d.
type Shape struct {
	Height   int `json:"height"`
	Width    int `json:"width"`
	Channels int `json:"channels"`
}

// Vector is the shape of d numbers without a place.
func Vector(d int) Shape { return Shape{1, 1, d} }

// Size is the count of numbers in one example.
func (s Shape) Size() int { return s.Height * s.Width * s.Channels }

func (s Shape) String() string {
	if s.Height == 1 && s.Width == 1 {
		return fmt.Sprintf("a vector of %d", s.Channels)
	}
	return fmt.Sprintf("%d×%d×%d", s.Height, s.Width, s.Channels)
}
