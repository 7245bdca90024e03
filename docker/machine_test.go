package docker

import (
	"strings"
	"testing"
)

// Two machines of one name are two, and one stays the same under another name.
func TestSameMachine(t *testing.T) {
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
			if got := SameMachine(c.label, c.this); got != c.want {
				t.Errorf("the same: %v", got)
			}
		})
	}
}

// A container of another machine with this one's name, whose session is not here, is not removed.
func TestReapLeavesAMachineOfTheSameName(t *testing.T) {
	s := Summary{Labels: map[string]string{LabelLease: "/nonesuch/lock", LabelHost: "laptop/0a1b"}}
	for this, want := range map[string]bool{"laptop/0a1b": true, "laptop/2c3d": false} {
		t.Run(this, func(t *testing.T) {
			if _, reason, orphan := judgeOwner(s, this, false); orphan != want {
				t.Errorf("an orphan: %v, %s", orphan, reason)
			}
		})
	}
}

// A machine is called the same each time.
func TestThisMachine(t *testing.T) {
	one, err := ThisMachine()
	if err != nil {
		t.Fatal(err)
	}
	two, err := ThisMachine()
	if err != nil || one != two || !SameMachine(one, two) {
		t.Errorf("%q, then %q, %v", one, two, err)
	}
	if number := machineNumber(); number != "" && (strings.Contains(one, number) || !strings.Contains(one, "/")) {
		t.Errorf("the name %q", one)
	}
}
