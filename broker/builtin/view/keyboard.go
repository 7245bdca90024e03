package view

import (
	"errors"
	"io"
	"strconv"
	"sync"
)

// The signs around a paste.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// keyboard hands the terminal's bytes on. In place of a paste's text it puts its number,
// and keeps the text: Bubble Tea would decode it as keys, and lose what looks like others.
type keyboard struct {
	mu     sync.Mutex
	pastes map[string]string

	within  bool
	matched int // bytes of the sign that is looked for
	text    []byte
	n       int
}

// copy reads from in until it ends or nobody reads out any more.
func (k *keyboard) copy(out io.Writer, in io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := in.Read(buf)
		if passed := k.filter(buf[:n]); len(passed) > 0 {
			if _, err := out.Write(passed); err != nil {
				return errors.New("nobody reads the input any more")
			}
		}
		if err != nil {
			return err
		}
	}
}

func (k *keyboard) filter(in []byte) []byte {
	var out []byte
	for _, b := range in {
		sign := pasteBegins
		if k.within {
			sign = pasteEnds
			k.text = append(k.text, b)
		} else {
			out = append(out, b)
		}
		switch {
		case b == sign[k.matched]:
			k.matched++
		case b == sign[0]:
			k.matched = 1
		default:
			k.matched = 0
		}
		if k.matched < len(sign) {
			continue
		}
		k.matched = 0
		if k.within {
			k.n++
			number := strconv.Itoa(k.n)
			k.mu.Lock()
			k.pastes[number] = string(k.text[:len(k.text)-len(sign)])
			k.mu.Unlock()
			out = append(append(out, number...), sign...)
			k.text = nil
		}
		k.within = !k.within
	}
	return out
}

// take returns the text of a paste, once.
func (k *keyboard) take(number string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.pastes[number]
	delete(k.pastes, number)
	return s
}
