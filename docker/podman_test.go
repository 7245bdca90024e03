package docker

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// podmanVariable tells the tests that DOCKER_HOST is Podman.
const podmanVariable = "IRONCURTAIN_DOCKER_TEST_PODMAN"

// onPodman says that the tests run against Podman.
var onPodman = os.Getenv(podmanVariable) != ""

// essential are the tests that Podman has to pass as Docker does: isolation, terminals, exits,
// what is run beside an agent, images. With control
// groups of version 1 Podman does not tell that the memory limit was hit.
var essential = []string{
	"TestHardening", "TestMounts", "TestRuntime", "TestStartErrorsLeaveNothing", "TestConcurrentStarts",
	"TestCancelledStartLeavesNothing", "TestListAndRemoveLabeled", "TestExit", "TestWaitRemoved",
	"TestWaitCancelled", "TestExec", "TestReattach", "TestReplay", "TestAttachRefusals",
	"TestAnAttachmentIsContinued", "TestTerminalSizeAtStart", "TestResize", "TestEveryByteComesThrough",
	"TestTryWriteReachesTheProgram", "TestFailedBuildLeavesNothing", "TestOneBuildAtATime",
	"TestNothingOfAnImageRuns", "TestVolumes", "TestVolumeMounts", "TestLayer", "TestLayerIsMadeOnce", "TestLayerErrors", "TestLayersAreRemoved",
}

// The tests hold against Podman, too, as it is when root runs it.
func TestPodman(t *testing.T) {
	address := startPodman(t)
	c, err := Connect(deadline(t, patience), Endpoint{Address: address, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if c.info.Architecture != connect(t).info.Architecture {
		t.Errorf("its architecture is called %q", c.info.Architecture)
	}
	tests := exec.CommandContext(deadline(t, 8*patience), os.Args[0], "-test.run=^("+strings.Join(essential, "|")+")$", "-test.count=1", "-test.v")
	tests.Env = append(os.Environ(), "DOCKER_HOST="+address, podmanVariable+"=1")
	out, err := tests.CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	if passed := strings.Count(string(out), "\n--- PASS: "); err == nil && passed != len(essential) {
		t.Errorf("%d of %d tests have passed", passed, len(essential))
	}
	t.Log(took(string(out)))
}

// took lists the tests of a verbose run with the time that each took.
func took(out string) string {
	var all []string
	for line := range strings.Lines(out) {
		if line, is := strings.CutPrefix(line, "--- PASS: "); is {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return strings.Join(all, ", ")
}

// startPodman starts Podman's service for the time of a test, with the images that it has, and
// returns its address.
func startPodman(t *testing.T) string {
	t.Helper()
	socket := filepath.Join(shortDir(t), "podman.sock")
	service := exec.Command("podman", "system", "service", "--time=0", "unix://"+socket)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	service.Stdout, service.Stderr = log, log
	if err := service.Start(); err != nil {
		t.Fatalf("%v; 'scripts/setup --tests' installs it", err)
	}
	t.Cleanup(func() {
		_ = service.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(patience, func() { _ = service.Process.Kill() })
		_ = service.Wait()
		kill.Stop()
		if said, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("Podman said: %s", said[max(0, len(said)-4000):])
		}
	})
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	eventually(t, patience, "Podman answers", func() bool {
		answer, err := client.Get("http://podman/_ping")
		if err != nil {
			return false
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	})
	return "unix://" + socket
}
