package term

// paletteRGB returns the color of a palette entry in xterm's default palette: 16 named
// colors, a 6×6×6 cube and 24 grays.
func paletteRGB(n uint8) (r, g, b uint8) {
	switch {
	case n < 16:
		c := namedColors[n]
		return c[0], c[1], c[2]
	case n < 232:
		n -= 16
		return cubeLevel(n / 36), cubeLevel(n / 6 % 6), cubeLevel(n % 6)
	}
	gray := 8 + (n-232)*10
	return gray, gray, gray
}

var namedColors = [16][3]uint8{
	{0x00, 0x00, 0x00},
	{0xcd, 0x00, 0x00},
	{0x00, 0xcd, 0x00},
	{0xcd, 0xcd, 0x00},
	{0x00, 0x00, 0xee},
	{0xcd, 0x00, 0xcd},
	{0x00, 0xcd, 0xcd},
	{0xe5, 0xe5, 0xe5},
	{0x7f, 0x7f, 0x7f},
	{0xff, 0x00, 0x00},
	{0x00, 0xff, 0x00},
	{0xff, 0xff, 0x00},
	{0x5c, 0x5c, 0xff},
	{0xff, 0x00, 0xff},
	{0x00, 0xff, 0xff},
	{0xff, 0xff, 0xff},
}

func cubeLevel(n uint8) uint8 {
	if n == 0 {
		return 0
	}
	return 55 + n*40
}

// The default colors that a screen reports to programs when its owner has set none.
var (
	defaultForeground = RGB(0xd0, 0xd0, 0xd0)
	defaultBackground = RGB(0x1e, 0x1e, 0x1e)
)

// resolve turns any color into components; the default color becomes
// fallback.
func (c Color) resolve(fallback Color) (r, g, b uint8) {
	if c == 0 {
		c = fallback
	}
	if n, ok := c.Palette(); ok {
		return paletteRGB(n)
	}
	r, g, b, _ = c.RGB()
	return r, g, b
}

// Dark reports whether light text is readable on the color. It returns true for the
// default color.
func (c Color) Dark() bool {
	r, g, b := c.resolve(defaultBackground)
	return 299*int(r)+587*int(g)+114*int(b) < 128*1000
}
