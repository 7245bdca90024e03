package bridge

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

const confined = "Name:\tbridge\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1001\nGroups:\t1000 7 \n" +
	"CapInh:\t0000000000000001\nCapPrm:\t0000000000000002\nCapEff:\t0000000000000004\nCapBnd:\t000001fffeffffff\nCapAmb:\t0000000000000008\n" +
	"NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n"

// world returns the kernel's files.
func world(files map[string]string) fstest.MapFS {
	w := fstest.MapFS{
		"proc/self/status":  {Data: []byte(confined)},
		"proc/self/uid_map": {Data: []byte("         0       1000          1\n         1     100000      65536\n")},
		"proc/self/gid_map": {Data: []byte("         0          0 4294967295\n")},
	}
	for name, text := range files {
		w[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return w
}

func TestLookReadsTheStatus(t *testing.T) {
	s, err := look(world(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := seen.Seen{
		Version: seen.Version, Architecture: s.Architecture,
		UIDMap: []seen.Range{{Outside: 1000, Count: 1}, {Inside: 1, Outside: 100000, Count: 65536}},
		GIDMap: []seen.Range{{Count: 4294967295}},
		UIDs:   [4]int{1000, 1000, 1000, 1000}, GIDs: [4]int{1000, 1000, 1000, 1001}, Groups: []int{1000, 7},
		Capabilities: seen.Capabilities{Inheritable: 1, Permitted: 2, Effective: 4, Bounding: 0x1fffeffffff, Ambient: 8},
		NoNewPrivs:   true, Seccomp: 2,
		MemoryMax: seen.Unknown, PidsMax: seen.Unknown, CPUMax: seen.Unknown,
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v\n%+v", s, want)
	}
}

// If the kernel does not show something, that is an error.
func TestLookFailsWithoutAnAnswer(t *testing.T) {
	for _, name := range []string{"Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "Seccomp"} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(confined, "\n"+name+":", "\nNo"+name+":", 1)
			if _, err := look(world(map[string]string{"proc/self/status": text})); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("without %s it says %v", name, err)
			}
		})
	}
	for name, text := range map[string]string{"proc/self/uid_map": "0 0\n", "proc/self/gid_map": "0 x 1\n"} {
		t.Run(name, func(t *testing.T) {
			if _, err := look(world(map[string]string{name: text})); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("with %q it says %v", text, err)
			}
		})
	}
}

func TestLookReadsLimits(t *testing.T) {
	const v1 = "30 20 0:26 /docker/1 /sys/fs/cgroup/memory ro,nosuid master:9 - cgroup cgroup rw,memory\n" +
		"31 20 0:27 /docker/1 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n" +
		"32 20 0:28 /docker/1 /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n"
	const v1Paths = "5:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n3:pids:/docker/1\n0::/\n"
	const v2 = "30 20 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n"
	for name, tt := range map[string]struct {
		files        map[string]string
		memory, pids int64
		cpus         float64
	}{
		"version 1": {map[string]string{
			"proc/self/mountinfo": v1, "proc/self/cgroup": v1Paths,
			"sys/fs/cgroup/memory/memory.limit_in_bytes":  "536870912\n",
			"sys/fs/cgroup/pids/pids.max":                 "512\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "150000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
		}, 512 << 20, 512, 1.5},
		"version 1 without limits": {map[string]string{
			"proc/self/mountinfo": v1, "proc/self/cgroup": v1Paths,
			"sys/fs/cgroup/memory/memory.limit_in_bytes":  "9223372036854771712\n",
			"sys/fs/cgroup/pids/pids.max":                 "max\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
		}, seen.Unlimited, seen.Unlimited, seen.Unlimited},
		"version 2": {map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "536870912\n",
			"sys/fs/cgroup/pids.max":   "512\n",
			"sys/fs/cgroup/cpu.max":    "200000 100000\n",
		}, 512 << 20, 512, 2},
		"version 2 from above": {map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/user.slice/agent\n",
			"sys/fs/cgroup/user.slice/agent/memory.max": "max\n",
			"sys/fs/cgroup/user.slice/memory.max":       "1073741824\n",
			"sys/fs/cgroup/user.slice/agent/pids.max":   "100\n",
			"sys/fs/cgroup/user.slice/pids.max":         "200\n",
			"sys/fs/cgroup/user.slice/agent/cpu.max":    "max 100000\n",
		}, 1 << 30, 100, seen.Unlimited},
		"version 2 without the resources": {map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/\n",
		}, seen.Unlimited, seen.Unlimited, seen.Unlimited},
		"not to be read": {map[string]string{
			"proc/self/mountinfo": v2, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "much\n", "sys/fs/cgroup/pids.max": "\n", "sys/fs/cgroup/cpu.max": "100000 0\n",
		}, seen.Unknown, seen.Unknown, seen.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := look(world(tt.files))
			if err != nil || s.MemoryMax != tt.memory || s.PidsMax != tt.pids || s.CPUMax != tt.cpus {
				t.Errorf("it sees %d bytes, %d processes, %g processors, %v", s.MemoryMax, s.PidsMax, s.CPUMax, err)
			}
		})
	}
}

// Look works for this process, and its report can be parsed.
func TestLookAtThisProcess(t *testing.T) {
	s, err := Look()
	if err != nil {
		t.Fatal(err)
	}
	if s.UIDs[1] != os.Geteuid() || len(s.UIDMap) == 0 || len(s.Interfaces) == 0 {
		t.Errorf("%+v", s)
	}
	data, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := seen.Parse(data); err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("%+v became %+v, %v", s, again, err)
	}
}

func TestLeaveTokens(t *testing.T) {
	place, missing := t.TempDir(), filepath.Join(t.TempDir(), "none")
	tokens, remove := LeaveTokens(place, missing)
	if len(tokens) != 2 || tokens[0].Place != place || tokens[1].Place != missing || tokens[1].Failed == "" {
		t.Fatalf("%+v", tokens)
	}
	if content, err := os.ReadFile(filepath.Join(place, tokens[0].Name)); err != nil || string(content) != tokens[0].Content {
		t.Errorf("the token contains %q, %v", content, err)
	}
	data, err := seen.Seen{Version: seen.Version, Tokens: tokens}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seen.Parse(data); err != nil {
		t.Error(err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(place); err != nil || len(entries) != 0 {
		t.Errorf("%v are left, %v", entries, err)
	}
}
