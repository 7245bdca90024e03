package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/scripted"
)

// loginAt writes the file that Claude Code would keep its login in.
func loginAt(t *testing.T, home string, model *scripted.Server) (path string) {
	t.Helper()
	access, refresh := model.Login("anthropic")
	path = filepath.Join(home, "user", ".claude", ".credentials.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":%q,"expiresAt":%d,"scopes":["user:inference"],"subscriptionType":"max"}}`,
		access, refresh, time.Now().Add(time.Hour).UnixMilli())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// moved are the flags that put the scripted model in the place of providers.
func moved(t *testing.T, home string, model *scripted.Server, hosts ...string) []string {
	t.Helper()
	ca := filepath.Join(home, "model.pem")
	if err := os.WriteFile(ca, model.CAPEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--upstream-ca", ca}
	for _, host := range hosts {
		flags = append(flags, "--upstream", host+"="+model.URL())
	}
	return flags
}

// filesWith lists the files below a directory that hold one of the texts.
func filesWith(t *testing.T, dir string, texts ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) {
				found = append(found, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// hear has the model say a word and waits for the end of the agent's turn.
func (d *driver) hear(word string) {
	d.t.Helper()
	d.ask("say " + word)
	d.until("the answer "+word, time.Minute, func(screen string) bool {
		return strings.Count(screen, word) > 1 // the order itself is one
	})
	d.until("the end of the turn", time.Minute, func(screen string) bool {
		return !strings.Contains(screen, "esc to interrupt")
	})
}

// A session lives on a login: its token is revoked between two turns, renewed
// once and stored; what nobody can renew is said in the tab, with
// the command. Nothing of the login is in what the containers see.
func TestLoginIsRenewedDuringASession(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	model, err := scripted.Start(t.Context(), scripted.WithDelay(0))
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	path := loginAt(t, home, model)
	access, refresh := model.Login("anthropic")
	d := drive(t, home, 110, 40, moved(t, home, model, "api.anthropic.com", "platform.claude.com")...)
	d.until("Claude Code's prompt", patience, func(screen string) bool {
		return strings.Contains(screen, "bypass permissions") || strings.Contains(screen, "for shortcuts")
	})
	d.see(time.Minute, "anthropic is at "+model.URL()) // the tab says where its requests go
	session := d.onlySession()

	d.hear("before-the-renewal")
	model.Revoke("anthropic")
	d.hear("after-the-renewal")
	if n := model.Renewals("anthropic"); n != 1 {
		t.Errorf("the login was renewed %d times", n)
	}
	nextAccess, nextRefresh := model.Login("anthropic")
	var file struct {
		Login map[string]any `json:"claudeAiOauth"`
	}
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &file) != nil {
		t.Fatalf("%s, %v", data, err)
	}
	if file.Login["accessToken"] != nextAccess || file.Login["refreshToken"] != nextRefresh || file.Login["subscriptionType"] != "max" {
		t.Errorf("the login was stored as %s", data)
	}
	for _, r := range model.Requests() {
		if r.Path == "/v1/messages?beta=true" && !r.KeyOK && r.Status != 401 {
			t.Errorf("a request without the login: %+v", r)
		}
	}

	model.Bar("anthropic")
	d.ask("say nothing")
	d.see(time.Minute, "claude /login")

	d.send("\x01")
	d.send("/quit!\r")
	if code := d.exit(60 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	d.nothingLeft(session.ID)
	record := d.audit(session.ID)
	secrets := []string{access, refresh, nextAccess, nextRefresh}
	for _, secret := range secrets {
		if strings.Contains(record, secret) {
			t.Error("the audit shows a token")
		}
	}
	if found := filesWith(t, d.state(), secrets...); len(found) > 0 {
		t.Errorf("tokens are in %v", found)
	}
	if found := filesWith(t, d.state("sessions", string(session.ID), "home"), "refreshToken", "refresh_token"); len(found) > 0 {
		t.Errorf("the container's home holds a login: %v", found)
	}
	if !strings.Contains(record, `"retry":1`) || !strings.Contains(record, "no-credential") {
		t.Error("the audit tells nothing of the renewal or of its failure")
	}
}
