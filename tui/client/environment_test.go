package client

import (
	"slices"
	"testing"
)

func TestTheDaemonGetsNoForeignVariables(t *testing.T) {
	got := environment([]string{
		"HOME=/h", "LC_TIME=C", "LC=x", "TMUX=/t", "IRONCURTAIN_ANSWER_TOKEN=t", "SSH_CONNECTION=a", "SSH_AUTH_SOCK=/s", "DOCKER_HOST=unix:///d", "TERM=xterm",
		"OPENAI_API_KEY=k", "MY_TOKEN=t", "AWS_SECRET_ACCESS_KEY=a", "https_proxy=p", "HOMER=x", "EMPTY",
	}, []string{"OPENAI_API_KEY"})
	want := []string{"HOME=/h", "LC_TIME=C", "SSH_AUTH_SOCK=/s", "DOCKER_HOST=unix:///d", "OPENAI_API_KEY=k", "https_proxy=p"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
