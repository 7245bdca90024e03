package learn

import "testing"

const someNetrc = `# comment
machine one.example login me password pw
macdef init
machine evil.example login evil password evil

machine two.example
	login you
	account x
	password pass
machine three.example login only
default login anybody password anything
`

func TestReadNetrc(t *testing.T) {
	for machine, want := range map[string]string{
		"one.example":     basic("me", "pw"),
		"ONE.example":     basic("me", "pw"),
		"two.example":     basic("you", "pass"),
		"three.example":   "",
		"evil.example":    "",
		"unknown.example": "",
		"":                "",
	} {
		t.Run(machine, func(t *testing.T) {
			if got := readNetrc([]byte(someNetrc), machine); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func FuzzReadNetrc(f *testing.F) {
	f.Add([]byte(someNetrc), "two.example")
	f.Add([]byte("machine"), "")
	f.Fuzz(func(t *testing.T, data []byte, machine string) {
		if got := readNetrc(data, machine); got != "" && len(got) < len("Basic YTpi") {
			t.Errorf("the login %q has no name or no password", got)
		}
	})
}
