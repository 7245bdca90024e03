package view

import (
	"io"
	"strconv"
	"sync"
)

// The sequences around a paste.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// keyboard passes the terminal's bytes on to Bubble Tea. It replaces a paste's text by a number and
// keeps the text, because Bubble Tea would decode the text and lose parts that look like keys.
type keyboard struct {
	out    io.WriteCloser // to Bubble Tea
	mu     sync.Mutex     // not held while writing
	pastes map[string]string
	last   sync.Mutex // held while writing
	ended  bool       // nothing more is written

	within  bool // in a paste
	matched int  // how many bytes of the next sequence were read
	text    []byte
	n       int
}

// copy passes on what it reads from in, until that ends.
func (k *keyboard) copy(in io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := in.Read(buf)
		k.write(k.filter(buf[:n]), false)
		if err != nil {
			return
		}
	}
}

// end writes an empty paste as the last key. When its end arrives at the model, Bubble Tea's reader
// holds no other key, and can end.
func (k *keyboard) end() { k.write([]byte(pasteBegins+pasteEnds), true) }

func (k *keyboard) write(b []byte, last bool) {
	k.last.Lock()
	defer k.last.Unlock()
	if !k.ended && len(b) > 0 {
		_, _ = k.out.Write(b) // fails only when Bubble Tea has ended, which needs no more keys
		k.ended = last
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
		switch b {
		case sign[k.matched]:
			k.matched++
		case sign[0]:
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

// take returns and removes the text of a paste.
func (k *keyboard) take(number string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.pastes[number]
	delete(k.pastes, number)
	return s
}
