package gitauth

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
)

// callDir is the directory of one call.
func (w world) callDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(w.state, "call")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// cache is that of the person who runs the tests, whose home they change.
var cache = func() string {
	if dir := os.Getenv("IRONCURTAIN_CACHE"); dir != "" {
		return dir
	}
	base, _ := os.UserCacheDir() // without one the tests say what they miss
	return filepath.Join(base, "ironcurtain-mux")
}()

// runtime is the real sandbox runtime.
func runtime(t *testing.T) []string {
	t.Helper()
	dir, err := servers.Install(t.Context(), cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	argv, err := dir.Argv("srt")
	if err != nil {
		t.Fatal(err)
	}
	return argv
}

// listening waits until the runtime's proxy can be reached, for which the runtime does not.
const listening = "until (exec 3<>/dev/tcp/127.0.0.1/3128) 2>/dev/null; do :; done\n"

// sandboxed runs a shell script in a real sandbox that can write to the workspace and whose
// only way out is the gate.
func (w world) sandboxed(t *testing.T, g *Gate, script string) (string, error) {
	t.Helper()
	g.Permit(true)
	settings, err := json.Marshal(map[string]any{
		"network": map[string]any{
			"allowedDomains": []string{g.Allowed()}, "deniedDomains": []string{},
			"mitmProxy": map[string]any{"socketPath": g.Socket(), "domains": []string{g.Host()}},
		},
		"filesystem": map[string]any{
			"denyRead": []string{w.state, filepath.Join(w.home, ".ssh")}, "allowRead": append([]string{}, g.Readable()...),
			"allowWrite": []string{w.workspace}, "denyWrite": []string{},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(w.home, "srt.json"), string(settings), 0o600)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	argv := append(runtime(t), "-s", file, "-c", g.Exports(0)+listening+"cd "+w.workspace+"\n"+script)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}
