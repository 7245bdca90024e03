package compile

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

//go:embed never.json
var neverFile []byte

// neverValues are paths and addresses that no tool may be allowed to reach, by what a call
// would do with them.
var neverValues = struct{ read, change, fetch, remote []string }{
	read: []string{
		"~/.ssh/id_ed25519", "~/.aws/credentials", "~/.gnupg/secring", "~/.ironcurtain/config.json", "~/.netrc", "~/.kube/config", "~/.docker/config.json",
		"~/.config/gh/hosts.yml", "~/.claude/.credentials.json", "~/.codex/auth.json", "/etc/shadow", "/proc/1/environ", "/root/.ssh/id_rsa", "/", "~",
	},
	change: []string{
		"~/.ssh/authorized_keys", "~/.aws/credentials", "~/.ironcurtain/config.json", "~/.bashrc", "~/.profile", "~/.gitconfig", "~/.netrc",
		"~/.config/autostart/x.desktop", "~/.config/systemd/user/x.service", "~/.config/git/config", "~/.local/bin/x",
		"/etc/passwd", "/etc/cron.d/x", "/usr/bin/x", "/root/.bashrc", "/dev/sda", "/", "~",
	},
	fetch: []string{
		"http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:2375/containers/json", "https://localhost/", "https://[::1]/", "http://10.0.0.1/",
		"file:///etc/passwd", "https://user:secret@example.com/", "https://metadata.google.internal/", "http://2130706433/",
	},
	remote: []string{"file:///etc", "ext::sh -c whoami", "http://127.0.0.1/x.git", "https://localhost/x.git", "--upload-pack=sh", "https://user:secret@github.com/x/y.git"},
}

// never returns the calls of a server's tools that must not be allowed whatever a
// constitution says: those written by hand, and for each tool one for every value above.
func never(server string, tools []policy.ToolDescription) ([]policy.Scenario, error) {
	written, err := policy.ParseScenarios("never.json", neverFile)
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(written, func(s policy.Scenario) bool {
		return s.Call.Server != server || !slices.ContainsFunc(tools, func(t policy.ToolDescription) bool { return t.Name == s.Call.Tool })
	})
	for _, t := range tools {
		schema := schemaOf(t)
		for _, role := range judgedRoles(t) {
			for _, v := range neverOf(role) {
				out = append(out, policy.Scenario{
					Description: fmt.Sprintf("%s with %s %s", t.Name, role, v), Call: sample(server, t, schema, role, v), Expected: "not-allow",
				})
			}
		}
	}
	return out, nil
}

func neverOf(role policy.Role) []string {
	switch {
	case role == policy.ReadPath:
		return neverValues.read
	case role.IsPath():
		return neverValues.change
	case role == policy.FetchURL:
		return neverValues.fetch
	case role == policy.GitRemote:
		return neverValues.remote
	}
	return nil
}
