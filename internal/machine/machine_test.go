package machine

import (
	"strings"
	"testing"
)

// Two machines of one name are two, and one stays the same under another name.
func TestSame(t *testing.T) {
	for name, c := range map[string]struct {
		label, this string
		want        bool
	}{
		"itself":                       {"laptop/0a1b", "laptop/0a1b", true},
		"of the same name":             {"laptop/2c3d", "laptop/0a1b", false},
		"under another name":           {"old/0a1b", "laptop/0a1b", true},
		"as an older program said":     {"laptop", "laptop/0a1b", true},
		"another, by an older program": {"tower", "laptop/0a1b", false},
		"without a number":             {"laptop", "laptop", true},
		"the label has a number":       {"laptop/0a1b", "laptop", false},
		"no label":                     {"", "laptop/0a1b", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Same(c.label, c.this); got != c.want {
				t.Errorf("the same: %v", got)
			}
		})
	}
}

// A machine is called the same each time.
func TestLabel(t *testing.T) {
	one, err := Label()
	if err != nil {
		t.Fatal(err)
	}
	two, err := Label()
	if err != nil || one != two || !Same(one, two) {
		t.Errorf("%q, then %q, %v", one, two, err)
	}
	if own := machineID(); own != "" && (strings.Contains(one, own) || !strings.Contains(one, "/")) {
		t.Errorf("the name %q", one)
	}
}
