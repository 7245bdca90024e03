package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo/scripted"
)

// loginAt writes the file that Claude Code would keep its login in.
func loginAt(t *testing.T, home string, model *scripted.Server) (path string) {
	t.Helper()
	access, refresh := model.Login("anthropic")
	return writeLogin(t, filepath.Join(home, "user", ".claude", ".credentials.json"), fmt.Sprintf(
		`{"claudeAiOauth":{"accessToken":%q,"refreshToken":%q,"expiresAt":%d,"scopes":["user:inference"],"subscriptionType":"max"}}`,
		access, refresh, time.Now().Add(time.Hour).UnixMilli()))
}

// chatgptLoginAt writes the file that Codex would keep its ChatGPT login in.
func chatgptLoginAt(t *testing.T, home string, model *scripted.Server) (path string) {
	t.Helper()
	access, refresh := model.Login("chatgpt")
	return writeLogin(t, filepath.Join(home, "user", ".codex", "auth.json"), fmt.Sprintf(
		`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"h.e30.s","access_token":%q,"refresh_token":%q,"account_id":%q}}`,
		access, refresh, scripted.Account))
}

func writeLogin(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
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
		if err == nil && !e.Type().IsRegular() {
			return nil
		}
		var data []byte
		if err == nil {
			data, err = os.ReadFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a session has ended meanwhile
		}
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

// hear has the model say a word and waits until the agent shows it.
func (d *driver) hear(model *scripted.Server, word string) {
	d.t.Helper()
	d.prompt("say " + word)
	d.until("the answer "+word, patience, func(screen string) bool {
		return strings.Count(screen, word) > 1 && slices.ContainsFunc(model.Requests(), func(r scripted.Request) bool {
			return r.Status == 200 && strings.Contains(r.Text, word)
		})
	})
	d.until("the end of the turn", patience, func(screen string) bool { return !working.MatchString(screen) })
}

// loginCase is an agent that lives on a login.
type loginCase struct {
	agent, ready, provider string
	moved                  []string // hosts of the provider and of its token service
	write                  func(*testing.T, string, *scripted.Server) string
	command                string // that logs in
}

// A session lives on a login: its token is revoked between two turns, renewed
// once and stored; what nobody can renew is said in the tab, with the command.
// Nothing of the login is in what the container sees.
func TestLoginIsRenewedDuringASession(t *testing.T) {
	t.Parallel()
	for _, c := range []loginCase{
		{
			"claude-code", "bypass permissions", "anthropic",
			[]string{"api.anthropic.com", "platform.claude.com"},
			loginAt, "claude /login",
		},
		{
			"codex", "Ask Codex to do anything", "chatgpt",
			[]string{"chatgpt.com", "auth.openai.com"},
			chatgptLoginAt, "codex login",
		},
	} {
		t.Run(c.agent, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c loginCase) run(t *testing.T) {
	t.Helper()
	home := newHome(t)
	model, err := scripted.Start(t.Context(), scripted.WithDelay(0))
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	path := c.write(t, home, model)
	access, refresh := model.Login(c.provider)
	d := drive(t, home, 110, 40, append(moved(t, home, model, c.moved...), "--agent", c.agent)...)
	d.see(patience, c.ready)
	d.see(patience, c.provider+" is at "+model.URL()) // the tab says where its requests go
	session := d.onlySession()

	d.hear(model, "before-the-renewal")
	model.Revoke(c.provider)
	d.hear(model, "after-the-renewal")
	if n := model.Renewals(c.provider); n != 1 {
		t.Errorf("the login was renewed %d times", n)
	}
	nextAccess, nextRefresh := model.Login(c.provider)
	if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte(nextAccess)) || !bytes.Contains(data, []byte(nextRefresh)) || bytes.Contains(data, []byte(access)) {
		t.Errorf("the login was stored as %s, %v", data, err)
	}

	model.Bar(c.provider)
	d.prompt("say nothing")
	d.see(patience, c.command)

	d.send("\x01")
	d.send("/quit!\r")
	if code := d.exit(2 * time.Minute); code != 0 {
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
	if found := filesWith(t, d.state(), append(secrets, scripted.Account)...); len(found) > 0 {
		t.Errorf("tokens or the account's name are in %v", found)
	}
	if !strings.Contains(record, `"retry":1`) || !strings.Contains(record, "no-credential") {
		t.Error("the audit tells nothing of the renewal or of its failure")
	}
}
