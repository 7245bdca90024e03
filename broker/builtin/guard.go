package builtin

import (
	"crypto/sha256"
	"fmt"
)

// How often a model may do the same before it is warned, and before its turn ends.
const (
	warnSame, endSame       = 3, 5 // the same program with the same outcome
	warnSimilar, endSimilar = 5, 8 // other programs with the same outcome
)

// guard notices within one turn that a model does the same again and again.
type guard struct {
	same, similar map[[32]byte]int
}

func newGuard() *guard { return &guard{same: map[[32]byte]int{}, similar: map[[32]byte]int{}} }

// note records a program and its result. warning is for the model; end says that the turn must end,
// because the model makes no progress.
func (g *guard) note(code, outcome string) (warning string, end bool) {
	result := sha256.Sum256([]byte(outcome))
	both := sha256.Sum256(append([]byte(code), result[:]...))
	g.same[both]++
	g.similar[result]++
	same, similar := g.same[both], g.similar[result]
	switch {
	case same >= endSame || similar >= endSimilar:
		return "", true
	case same >= warnSame:
		return fmt.Sprintf("\n\nThis is the %dth time that the same program had the same outcome. Do something else, or tell the person what you need.", same), false
	case similar >= warnSimilar:
		return fmt.Sprintf("\n\n%d programs had this outcome. Do something else, or tell the person what you need.", similar), false
	}
	return "", false
}
