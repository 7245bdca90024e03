package keys

import "testing"

// Parse reads every name that String gives.
func TestParseIsTheInverseOfString(t *testing.T) {
	for _, name := range []string{
		"a", "A", "é", "É", "?", "+", "-", "ctrl+a", "ctrl++", "alt+1", "ctrl+alt+f5", "shift+enter", "space",
		"ctrl+space", "pgdown", "f1", "f12", "f13", "f24", "f35", "kp0", "kpenter", "esc", "ctrl+\\", "super+k",
		"ctrl+shift+a", "hyper+meta+x", "media3", "漢",
	} {
		t.Run(name, func(t *testing.T) {
			k, ok := Parse(name)
			if !ok || k.String() != name {
				t.Errorf("%s is read as %s, %v", name, k, ok)
			}
		})
	}
	for c := range names {
		if k, ok := Parse(Key{Code: c}.String()); !ok || k.Code != c {
			t.Errorf("%s is read as %s, %v", names[c], k, ok)
		}
	}
	for name, want := range map[string]string{"Ctrl+A": "ctrl+a", "alt+ctrl+X": "ctrl+alt+x", "PgUp": "pgup", "F5": "f5"} {
		t.Run(name, func(t *testing.T) {
			if k, ok := Parse(name); !ok || k.String() != want {
				t.Errorf("%s is read as %s, %v; want %s", name, k, ok, want)
			}
		})
	}
	for _, name := range []string{"", "ctrl+", "ctrl+ab", "ctrl+ctrl+a", "shift+a", "nokey", "\x01", "\n", "\xff", "f36"} {
		t.Run(name, func(t *testing.T) {
			if k, ok := Parse(name); ok {
				t.Errorf("%q is read as %s", name, k)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("ctrl+alt+f5")
	f.Add("É")
	f.Fuzz(func(t *testing.T, name string) {
		k, ok := Parse(name)
		if !ok {
			return
		}
		again, ok := Parse(k.String())
		if !ok || again.String() != k.String() {
			t.Errorf("%q is %s, which is %s, %v", name, k, again, ok)
		}
	})
}
