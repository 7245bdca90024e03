package xcolor

import "math"

// xyz is a color in the CIE's XYZ space, with Y from 0 to 1.
type xyz struct{ x, y, z float64 }

// lightOfXYZ converts XYZ to the intensities of red, green and blue on the display that
// Xlib assumes.
var lightOfXYZ = [3][3]float64{
	{3.483404812535390, -1.521763749272852, -0.559231333540498},
	{-1.071527513061936, 1.965937952043724, 0.036736913395535},
	{0.063511797904978, -0.200205010004965, 0.810709420316482},
}

// displayWhite is the white of the display that Xlib assumes.
var displayWhite = xyz{0.949664400, 1, 1.406040270}

func (c xyz) light() (light [3]float64) {
	for i, row := range lightOfXYZ {
		light[i] = row[0]*c.x + row[1]*c.y + row[2]*c.z
	}
	return light
}

// uv returns the CIE 1976 chromaticity coordinates u′ and v′.
func (c xyz) uv() (u, v float64) {
	d := c.x + 15*c.y + 3*c.z
	return 4 * c.x / d, 9 * c.y / d
}

// showable reports whether the display can show these intensities, with a tolerance.
func showable(light [3]float64, tolerance float64) bool {
	return min(light[0], light[1], light[2]) >= -tolerance && max(light[0], light[1], light[2]) <= 1+tolerance
}

// color returns the color on the display. If the display cannot show c, it returns the
// most saturated color of the same hue and luminance that the display can show.
func (c xyz) color() RGB {
	light := c.light()
	switch {
	case showable(light, 0.001):
		return lightColor(light)
	case c.y <= 0:
		return RGB{}
	case c.y >= 1:
		return RGB{255, 255, 255}
	}
	u, v := c.uv()
	whiteU, whiteV := displayWhite.uv()
	light = [3]float64{c.y, c.y, c.y} // the gray of this luminance
	inside, outside := 0.0, 1.0
	for range 40 {
		middle := (inside + outside) / 2
		tried := fromUVY(whiteU+(u-whiteU)*middle, whiteV+(v-whiteV)*middle, c.y).light()
		if showable(tried, 0) {
			inside, light = middle, tried
		} else {
			outside = middle
		}
	}
	return lightColor(light)
}

// luminance returns Y for a lightness L* from 0 to 100.
func luminance(lightness float64) float64 {
	if lightness < 8 {
		return lightness / 903.29
	}
	t := (lightness + 16) / 116
	return t * t * t
}

// The color spaces of Xlib, each from its three numbers.

func fromXYZ(x, y, z float64) xyz { return xyz{x, y, z} }

func fromXYY(x, y, light float64) xyz {
	return xyz{x * light / y, light, (1 - x - y) * light / y}
}

func fromUVY(u, v, light float64) xyz {
	d := 6*u - 16*v + 12
	return fromXYY(9*u/d, 4*v/d, light)
}

func fromLuv(lightness, u, v float64) xyz {
	whiteU, whiteV := displayWhite.uv()
	scale := 13 * lightness / 100 // Xlib's u* and v* are a hundredth of CIE's
	return fromUVY(u/scale+whiteU, v/scale+whiteV, luminance(lightness))
}

func fromLab(lightness, a, b float64) xyz {
	if lightness < 8 {
		t := lightness / 903.29 * 100 // like Xlib, a hundred times CIE's value
		return xyz{displayWhite.x * (a/3893.5 + t), t, displayWhite.z * (t - b/1557.4)}
	}
	t := (lightness + 16) / 116
	x, z := t+a/5, t-b/2
	return xyz{displayWhite.x * x * x * x, t * t * t, displayWhite.z * z * z * z}
}

// fromHVC converts Tektronix's hue in degrees, value and chroma. Hue 0 is red.
func fromHVC(hue, value, chroma float64) xyz {
	const redU, redV, chromaScale = 0.7127, 0.4931, 7.50725
	u, v := displayWhite.uv()
	angle := math.Atan((redV-v)/(redU-u)) + hue*math.Pi/180
	radius := chroma / (value * chromaScale)
	return fromUVY(u+radius*math.Cos(angle), v+radius*math.Sin(angle), luminance(value))
}
