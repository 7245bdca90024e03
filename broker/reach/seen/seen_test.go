package seen_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// everybody is the map of the initial namespace.
func everybody() []seen.Range { return []seen.Range{{Count: 4294967295}} }

// good returns a report that is as ordered, and what was ordered.
func good() (seen.Seen, seen.Want) {
	s := seen.Seen{
		Version: seen.Version,
		UIDMap:  everybody(), GIDMap: everybody(),
		UIDs: [4]int{1000, 1000, 1000, 1000}, GIDs: [4]int{1000, 1000, 1000, 1000}, Groups: []int{1000},
		NoNewPrivs: true, Seccomp: 2, RootReadOnly: true,
		Interfaces: []seen.Interface{{Name: "lo", Loopback: true, Up: true, Addresses: []string{"127.0.0.1/8"}}},
		MemoryMax:  4 << 30, PidsMax: 512, CPUMax: 2, Architecture: "amd64",
		Tokens: []seen.Token{{Place: "/workspace", Name: seen.TokenName(strings.Repeat("0a", 16)), Content: strings.Repeat("1b", 32)}},
	}
	return s, seen.Want{UID: 1000, GID: 1000, MemoryBytes: 4 << 30, Pids: 512, CPUs: 2, Architecture: "x86_64"}
}

// asRoot makes the container's user number 0, with this number outside it.
func asRoot(outside int64) func(*seen.Seen, *seen.Want) {
	return func(s *seen.Seen, w *seen.Want) {
		s.UIDs, s.GIDs, s.Groups, w.UID, w.GID = [4]int{}, [4]int{}, nil, 0, 0
		s.UIDMap = []seen.Range{{Outside: outside, Count: 1}, {Inside: 1, Outside: 100000, Count: 65536}}
		s.GIDMap = s.UIDMap
	}
}

func TestJudge(t *testing.T) {
	for name, tt := range map[string]struct {
		change   func(*seen.Seen, *seen.Want)
		err      string
		warnings []string
	}{
		"as ordered":                 {func(*seen.Seen, *seen.Want) {}, "", nil},
		"another user":               {func(s *seen.Seen, _ *seen.Want) { s.UIDs[0] = 1001 }, "runs as user [1001 1000 1000 1000] instead of 1000", nil},
		"a user to return to":        {func(s *seen.Seen, _ *seen.Want) { s.UIDs[2] = 0 }, "runs as user", nil},
		"another group":              {func(s *seen.Seen, _ *seen.Want) { s.GIDs[3] = 0 }, "runs as group", nil},
		"one more group":             {func(s *seen.Seen, _ *seen.Want) { s.Groups = []int{1000, 999} }, "belongs to group 999", nil},
		"a group kept from outside":  {func(s *seen.Seen, _ *seen.Want) { s.Groups = []int{65534} }, "belongs to group 65534", nil},
		"no group":                   {func(s *seen.Seen, _ *seen.Want) { s.Groups = nil }, "", nil},
		"root of the machine":        {asRoot(0), "is root, also outside", nil},
		"root of an empty map":       {func(s *seen.Seen, w *seen.Want) { asRoot(7)(s, w); s.UIDMap = nil }, "has no number outside", nil},
		"root that is the caller":    {asRoot(1000), "", nil},
		"root by name only":          {func(s *seen.Seen, w *seen.Want) { asRoot(0)(s, w); w.Rootless = true }, "is root, also outside", nil},
		"root's group":               {func(s *seen.Seen, w *seen.Want) { asRoot(1000)(s, w); s.GIDMap = everybody() }, "is root, also outside", nil},
		"root with a bounding set":   {func(s *seen.Seen, w *seen.Want) { asRoot(1000)(s, w); s.Capabilities.Bounding = 1 }, "bounding: 0x1", nil},
		"a map of nonsense":          {func(s *seen.Seen, _ *seen.Want) { s.UIDMap = []seen.Range{{Inside: -1, Count: 1 << 40}} }, "has no number outside", nil},
		"a user who is root outside": {func(s *seen.Seen, _ *seen.Want) { s.UIDMap = []seen.Range{{Inside: 1000, Count: 1}} }, "user 1000 is root outside", nil},
		"the caller, kept": {func(s *seen.Seen, w *seen.Want) {
			s.UIDMap, w.Rootless = []seen.Range{{Outside: 1, Count: 1000}, {Inside: 1000, Count: 1}, {Inside: 1001, Outside: 1001, Count: 64536}}, true
		}, "", nil},
		"effective capabilities":   {func(s *seen.Seen, _ *seen.Want) { s.Capabilities.Effective = 1 << 40 }, "effective: 0x10000000000", nil},
		"permitted capabilities":   {func(s *seen.Seen, _ *seen.Want) { s.Capabilities.Permitted = 2 }, "permitted: 0x2", nil},
		"ambient capabilities":     {func(s *seen.Seen, _ *seen.Want) { s.Capabilities.Ambient = 2 }, "ambient: 0x2", nil},
		"inheritable capabilities": {func(s *seen.Seen, _ *seen.Want) { s.Capabilities.Inheritable = 2 }, "inheritable: 0x2", nil},
		"new privileges":           {func(s *seen.Seen, _ *seen.Want) { s.NoNewPrivs = false }, "can gain privileges", nil},
		"no seccomp":               {func(s *seen.Seen, _ *seen.Want) { s.Seccomp = 0 }, "not filtered (seccomp mode 0)", nil},
		"strict seccomp":           {func(s *seen.Seen, _ *seen.Want) { s.Seccomp = 1 }, "not filtered", nil},
		"a writable root":          {func(s *seen.Seen, _ *seen.Want) { s.RootReadOnly = false }, "root directory is writable", nil},
		"a network": {func(s *seen.Seen, _ *seen.Want) {
			s.Interfaces = append(s.Interfaces, seen.Interface{Name: "eth0", Up: true, Addresses: []string{"172.17.0.2/16"}})
		}, "has a network (\"eth0 172.17.0.2/16\")", nil},
		"an address in waiting": {func(s *seen.Seen, _ *seen.Want) {
			s.Interfaces = append(s.Interfaces, seen.Interface{Name: "eth0", Addresses: []string{"172.17.0.2/16"}})
		}, "has a network", nil},
		"the kernel's tunnels":      {func(s *seen.Seen, _ *seen.Want) { s.Interfaces = append(s.Interfaces, seen.Interface{Name: "tunl0"}) }, "", nil},
		"no interface":              {func(s *seen.Seen, _ *seen.Want) { s.Interfaces = nil }, "no loopback interface", nil},
		"another architecture":      {func(s *seen.Seen, _ *seen.Want) { s.Architecture = "arm64" }, `for "arm64", the engine for "amd64"`, nil},
		"an architecture unsaid":    {func(_ *seen.Seen, w *seen.Want) { w.Architecture = "" }, "", nil},
		"the kernel's name of it":   {func(s *seen.Seen, w *seen.Want) { s.Architecture, w.Architecture = "arm64", "aarch64" }, "", nil},
		"memory not limited":        {func(s *seen.Seen, _ *seen.Want) { s.MemoryMax = seen.Unlimited }, "", []string{"memory is NOT limited"}},
		"memory unknown":            {func(s *seen.Seen, _ *seen.Want) { s.MemoryMax = seen.Unknown }, "", []string{"whether memory is limited cannot be seen"}},
		"less memory":               {func(s *seen.Seen, _ *seen.Want) { s.MemoryMax = 512 << 20 }, "", []string{"memory is limited to 512 MB instead of 4.0 GB"}},
		"whole pages":               {func(s *seen.Seen, _ *seen.Want) { s.MemoryMax -= 4095 }, "", nil},
		"processes not limited":     {func(s *seen.Seen, _ *seen.Want) { s.PidsMax = seen.Unlimited }, "", []string{"the number of processes is NOT limited"}},
		"more processes":            {func(s *seen.Seen, _ *seen.Want) { s.PidsMax = 4096 }, "", []string{"the number of processes is limited to 4096 instead of 512"}},
		"processors":                {func(s *seen.Seen, _ *seen.Want) { s.CPUMax = 1.5 }, "", []string{"processor time is limited to 1.5 processors instead of 2 processors"}},
		"a limit that nobody wants": {func(s *seen.Seen, w *seen.Want) { w.MemoryBytes, w.CPUs, s.CPUMax = 0, 0, seen.Unlimited }, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := good()
			tt.change(&s, &w)
			warnings, err := s.Judge(w)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("it says %v, without %q", err, tt.err)
			}
			if err != nil && fault.Hint(err) == "" {
				t.Errorf("%v does not say what to do", err)
			}
			if !slices.Equal(warnings, tt.warnings) {
				t.Errorf("it warns of %q, not of %q", warnings, tt.warnings)
			}
		})
	}
}

// Judge names everything that differs at once.
func TestJudgeSaysAll(t *testing.T) {
	s, w := good()
	s.NoNewPrivs, s.Seccomp, s.RootReadOnly = false, 0, false
	if _, err := s.Judge(w); err == nil || strings.Count(err.Error(), ";") != 2 {
		t.Errorf("of three differences it says %v", err)
	}
}

func TestParse(t *testing.T) {
	s, _ := good()
	written, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, with string) []byte {
		t.Helper()
		if !bytes.Contains(written, []byte(old)) {
			t.Fatalf("%s does not contain %s", written, old)
		}
		return bytes.Replace(written, []byte(old), []byte(with), 1)
	}
	for name, tt := range map[string]struct {
		data []byte
		err  string
	}{
		"as written":         {written, ""},
		"nothing":            {nil, "unexpected end"},
		"too large":          {bytes.Repeat([]byte(" "), seen.MaxSize+1), "the limit is"},
		"another version":    {replaced(`"version":1`, `"version":2`), "its version is 2"},
		"nothing of seccomp": {replaced(`"seccomp":2,`, ``), "not what the bridge writes"},
		"none of ambient":    {replaced(`"ambient":0,`, ``), "not what the bridge writes"},
		"said twice":         {replaced(`"seccomp":2,`, `"seccomp":0,"seccomp":2,`), "not what the bridge writes"},
		"in other words":     {replaced(`"seccomp"`, `"Seccomp"`), "not what the bridge writes"},
		"more":               {replaced(`"seccomp":2,`, `"seccomp":2,"more":1,`), "not what the bridge writes"},
		"space":              {append(bytes.Clone(written), ' '), "not what the bridge writes"},
		"twice":              {append(bytes.Clone(written), written...), "after top-level"},
		"a capability too many": {
			replaced(`"ambient":0`, `"ambient":18446744073709551616`), "cannot unmarshal",
		},
		"a token elsewhere": {replaced(`.ironcurtain-0a`, `../../../.ssh/0a`), "malformed token"},
		"a token's content": {replaced(`"content":"1b`, `"content":"xx`), "malformed token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := seen.Parse(tt.data)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("it says %v, without %q", err, tt.err)
			}
		})
	}
}

// A report that Parse accepts is encoded as the same bytes, and judging it does not panic.
func FuzzParse(f *testing.F) {
	s, w := good()
	data, err := s.Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := seen.Parse(data)
		if err != nil {
			return
		}
		again, err := s.Bytes()
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s became %s, %v", data, again, err)
		}
		for _, token := range s.Tokens {
			if token.Failed == "" && strings.ContainsAny(token.Name, `/\`) {
				t.Errorf("%q is the name of a token", token.Name)
			}
		}
		if _, err := s.Judge(w); err == nil && (s.Capabilities != seen.Capabilities{} || !s.NoNewPrivs || s.Seccomp != 2 || !s.RootReadOnly || s.UIDs[0] != w.UID) {
			t.Errorf("%s is isolated", data)
		}
	})
}
