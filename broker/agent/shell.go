package agent

// shell is a plain shell in the container an agent would have: for people who
// want to look around, and for measuring.
func shell() Adapter {
	return Adapter{
		Name:  "shell",
		Title: "Shell",
		Image: "shell",
		Launch: func(Host) (Launch, error) {
			return Launch{
				Argv: []string{"bash", "--noprofile", "--norc", "-i"},
				Env:  []string{`PS1=\w\$ `, "HISTFILE=" + Home + "/.bash_history"},
			}, nil
		},
		Once: func(_ Host, task string) (Launch, error) {
			return Launch{Argv: []string{"bash", "--noprofile", "--norc", "-c", task}}, nil
		},
		Answer:     answerOfShell,
		JobControl: true,
		Submit: func(text string) Submission {
			return Submission{Steps: []string{bracketed(text) + "\r"}}
		},
	}
}

// answerOfShell returns the command's output unchanged.
func answerOfShell(stdout string, exitCode int) Answer {
	if exitCode != 0 {
		return failedAnswer(stdout, exitCode)
	}
	return Answer{Text: stdout}
}
