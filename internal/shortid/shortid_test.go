package shortid

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	all := []One{{"6f1c0a77d1e2f3a4", 5}, {"1983aaaaaaaaaaaa", 6}, {"6f2c000000000000", 1983}, {"5bcd000000000000", 12}, {"ab", 0}, {"abc", 0}}
	for word, want := range map[string]int{
		"6f1c": 0, "6F1C": 0, "#5": 0, "6": -2, "#6": 1, "#1983": 2, "1983a": 1, "1983": -2,
		"5": -2, "12": 3, "5b": 3, "ab": 4, "abc": 5, "a": -2,
		"": -1, "#": -1, "0": -1, "#0": -1, "7": -1, "-5": -1, "#6f1c": -1, "6f1c0a77d1e2f3a4x": -1,
	} {
		at, found, err := Find("call", word, all)
		switch {
		case want == -2:
			if err == nil || found {
				t.Errorf("%q: %d, %v, no error although it could be several", word, at, found)
			}
		case err != nil || found != (want >= 0) || found && at != want:
			t.Errorf("%q: %d, %v, %v, want %d", word, at, found, err, want)
		}
	}
	_, _, err := Find("call", "1983", all)
	for _, part := range []string{"#6 (1983aaaaaaaa…)", "#1983 (6f2c00000000…)", `"1983" could be more than one call`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %s", err, part)
		}
	}
}

// Of many candidates the first ones are named.
func TestManyCandidatesAreCounted(t *testing.T) {
	all := make([]One, 9)
	for i := range all {
		all[i].ID = "a" + string(rune('0'+i))
	}
	if _, _, err := Find("session", "a", all); err == nil || !strings.HasSuffix(err.Error(), ": a0, a1, a2, a3, 5 more") {
		t.Error(err)
	}
}
