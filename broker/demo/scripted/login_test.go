package scripted

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"
)

func TestLogin(t *testing.T) {
	s, client := start(t)
	send := func(path, kind, body string, header ...string) (int, string) {
		t.Helper()
		res := post(t, client, s.URL()+path, []byte(body), append(header, "Content-Type", kind)...)
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	ask := func(access string, more ...string) int {
		header := append([]string{"Authorization", "Bearer " + access, "Anthropic-Version", "2023-06-01"}, more...)
		status, _ := send("/v1/messages", "application/json", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"say hi"}]}`, header...)
		return status
	}
	beta := []string{"Anthropic-Beta", "x,oauth-2025-04-20"}
	renew := func(path, refresh string) (access, next string, status int) {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "client_id": {"c"}}
		status, text := send(path, "application/x-www-form-urlencoded", form.Encode())
		var pair struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
		}
		if err := json.Unmarshal([]byte(text), &pair); err != nil {
			t.Fatal(err)
		}
		return pair.Access, pair.Refresh, status
	}
	access, refresh := s.Login("anthropic")
	if !strings.HasPrefix(access, "sk-ant-oat01-") {
		t.Errorf("access token %q", access)
	}
	if got := ask(access, beta...); got != 200 {
		t.Errorf("with the token: %d", got)
	}
	if got := ask(access); got != 401 {
		t.Errorf("without saying so: %d", got)
	}
	s.Revoke("anthropic")
	if got := ask(access, beta...); got != 401 {
		t.Errorf("with a revoked token: %d", got)
	}
	second, next, status := renew("/v1/oauth/token", refresh)
	if status != 200 || ask(second, beta...) != 200 || s.Renewals("anthropic") != 1 {
		t.Errorf("renewed: %d, %d renewals", status, s.Renewals("anthropic"))
	}
	if _, _, status := renew("/v1/oauth/token", refresh); status != 400 {
		t.Errorf("the old refresh token again: %d", status)
	}
	if _, _, status := renew("/oauth/token", next); status != 400 {
		t.Errorf("the refresh token of another provider: %d", status)
	}
	s.Bar("anthropic")
	if _, _, status := renew("/v1/oauth/token", next); status != 400 || ask(second, beta...) != 401 {
		t.Errorf("barred: %d", status)
	}
	_, refresh = s.Login("chatgpt")
	status, text := send("/oauth/token", "application/json", `{"grant_type":"refresh_token","refresh_token":"`+refresh+`"}`)
	if status != 200 || !strings.Contains(text, "chatgpt-scripted-") {
		t.Errorf("in JSON: %d %s", status, text)
	}
	access, _ = s.Login("chatgpt")
	if status, _ := send("/backend-api/codex/responses", "application/json", `{"model":"m","input":"say hi"}`, "Authorization", "Bearer "+access); status != 200 {
		t.Errorf("chatgpt: %d", status)
	}
	for _, e := range s.Requests() {
		if e.Header.Get("Authorization") != "" || strings.Contains(e.Prompt, Account) {
			t.Error("the log holds a token")
		}
	}
}
