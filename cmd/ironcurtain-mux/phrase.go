package main

import (
	"crypto/rand"
	"math/big"
	"strings"
)

// phraseWords are short and common words that are hard to confuse.
var phraseWords = strings.Fields(`
	amber anchor apple arrow autumn badge bamboo barley basin beacon birch bottle
	bridge bronze canyon carpet castle cedar cherry circle cliff clover cobalt copper
	coral cotton cradle crystal dagger desert diamond dolphin dragon eagle ember engine
	falcon feather fiddle forest fountain galaxy garden ginger glacier granite guitar
	hammer harbor hazel helmet island ivory jacket jasmine jungle kettle ladder lantern
	lemon linen lizard magnet maple marble meadow mirror needle nickel ocean olive
	orchard otter paper pepper pigeon planet pocket prairie pumpkin quartz rabbit raven
	ribbon river rocket saddle salmon sapphire shadow silver spider spruce summer
	temple thunder timber tulip tunnel turtle valley velvet violet walnut willow winter
`)

// newPhrase picks two words that only the host knows. They are shown on the real approval panel,
// so that a person can recognize a panel that an agent has drawn.
func newPhrase() string {
	draw := func() string {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(phraseWords))))
		if err != nil {
			panic(err) // the system has no randomness; nothing else would work either
		}
		return phraseWords[n.Int64()]
	}
	return draw() + " " + draw()
}
