package outer

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// However the program dies, its terminal is restored. A shell leads the session, as it
// does for a person, because a terminal whose session leader has ended is closed anyway.
func TestWatchdogRestoresWhatNobodyElseDoes(t *testing.T) {
	for _, how := range []string{"panic unguarded", "kill -9"} {
		t.Run(how, func(t *testing.T) {
			l := newLine(t)
			before, err := getTermios(int(l.slave.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			leader := exec.CommandContext(t.Context(), "sh", "-c", `"$0"; read -r line`, os.Args[0])
			leader.Env = append(os.Environ(), helperEnv+"="+how, "TERM=xterm-256color")
			leader.Stdin, leader.Stdout, leader.Stderr = l.slave, l.slave, l.slave
			leader.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := leader.Start(); err != nil {
				t.Fatal(err)
			}
			l.wait(t, "READY")
			l.wait(t, "its terminal has been restored")
			checkRestored(t, l.text())
			after, err := getTermios(int(l.slave.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			if *after != *before {
				t.Errorf("line discipline %+v, was %+v", after, before)
			}
			if _, err := l.master.WriteString("go on\n"); err != nil {
				t.Fatal(err)
			}
			if err := leader.Wait(); err != nil {
				t.Errorf("the shell ended with %v", err)
			}
		})
	}
}
