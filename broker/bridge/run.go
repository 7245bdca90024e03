package bridge

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inherited is the number under which a child finds the first file handed to it.
const inherited = 3

// Run makes this process the program argv: the main process of a container. The
// way to the model is open before it: the loopback address listen is bound here,
// and carried by a child process that runs serve, a command line of the bridge,
// with the socket as its descriptor 3. Run returns only when it fails.
//
// The program begins with the size of its terminal set: where the engine starts
// it without one, it is waited for.
func Run(listen string, serve, argv []string) error {
	if err := start(listen, serve); err != nil {
		return fmt.Errorf("open the way to the model: %w", err)
	}
	awaitSize(os.Stdin)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	return fmt.Errorf("start %s: %w", path, unix.Exec(path, argv, os.Environ()))
}

// start binds the address and leaves it to a child. The child has a session of
// its own, so that Ctrl-C in the tab does not reach it, and says nothing, because
// its words would land on the agent's screen.
func start(listen string, serve []string) error {
	listener, err := net.Listen("tcp4", listen) //nolint:noctx // binding a number does not wait
	if err != nil {
		return err
	}
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer file.Close()
	child := exec.Command(serve[0], serve[1:]...) //nolint:noctx // it outlives this process
	child.ExtraFiles = []*os.File{file}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return child.Start()
}

// Inherited is the listener that Run has handed to this process.
func Inherited() (net.Listener, error) {
	file := os.NewFile(inherited, "listener")
	if file == nil {
		return nil, errors.New("no socket was handed over")
	}
	defer file.Close()
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("take over the socket: %w", err)
	}
	return listener, nil
}

// How often and for how long a terminal's size is waited for.
const (
	sizeEvery    = 5 * time.Millisecond
	sizePatience = 2 * time.Second
)

// awaitSize returns when the terminal has a size. What is no terminal has none.
func awaitSize(terminal *os.File) {
	for begin := time.Now(); time.Since(begin) < sizePatience; <-time.After(sizeEvery) {
		size, err := unix.IoctlGetWinsize(int(terminal.Fd()), unix.TIOCGWINSZ)
		if err != nil || size.Col > 0 && size.Row > 0 {
			return
		}
	}
}
