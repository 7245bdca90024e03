package xcolor

import "math"

// The display that Xlib assumes for device-independent colors. Each table lists the
// intensity of a channel in millionths of its maximum, for channel values in steps of 5
// up to 255. It starts at the first value whose intensity is not 0.
var redLight = [...]int32{
	936, 1481, 2329, 3529, 5127, 7169, 9699, 12759, 16392, 20637, 25533, 31119, 37431,
	44504, 52373, 61069, 70624, 81070, 92433, 104744, 118026, 132307, 147610, 163958,
	181371, 199871, 219475, 240202, 262069, 285089, 309278, 334647, 361208, 388971,
	417945, 448138, 479555, 512202, 546082, 581199, 617552, 655144, 693971, 734031,
	775322, 817837, 861571, 906515, 952662, 1000000,
}

var greenLight = [...]int32{
	832, 1998, 3612, 5736, 8428, 11745, 15740, 20463, 25960, 32275, 39449, 47519,
	56520, 66484, 77439, 89409, 102418, 116485, 131625, 147853, 165176, 183604,
	203140, 223783, 245533, 268384, 292327, 317351, 343441, 370580, 398747, 427919,
	458068, 489165, 521176, 554067, 587797, 622324, 657604, 693588, 730225, 767459,
	805235, 843491, 882164, 921187, 960490, 1000000,
}

var blueLight = [...]int32{
	1341, 2080, 3188, 4729, 6766, 9357, 12559, 16424, 21004, 26344, 32489, 39481,
	47357, 56154, 65903, 76634, 88373, 101145, 114968, 129862, 145841, 162915, 181095,
	200386, 220791, 242309, 264937, 288670, 313499, 339410, 366390, 394421, 423481,
	453547, 484592, 516587, 549498, 583291, 617925, 653361, 689553, 726454, 764013,
	802178, 840891, 880093, 919723, 959715, 1000000,
}

// channelValue returns the channel value for an intensity between 0 and 1.
func channelValue(table []int32, light float64) uint8 {
	if light <= 0 {
		return 0
	}
	light *= 1e6
	first := 255 - 5*(len(table)-1)
	i := 0
	for i < len(table)-1 && light > float64(table[i]) {
		i++
	}
	if i == 0 { // at the value before the first, the intensity is 0
		return uint8(first - 1 + int(math.Round(min(light/float64(table[0]), 1))))
	}
	below, above := float64(table[i-1]), float64(table[i])
	part := min((light-below)/(above-below), 1)
	return uint8(first + 5*(i-1) + int(math.Round(5*part)))
}

// lightColor returns the color whose channels have these intensities.
func lightColor(light [3]float64) RGB {
	return RGB{
		channelValue(redLight[:], light[0]),
		channelValue(greenLight[:], light[1]),
		channelValue(blueLight[:], light[2]),
	}
}
