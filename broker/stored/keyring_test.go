package stored

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// secretVariable makes the test binary leave a secret for the directory it names.
const secretVariable = "IRONCURTAIN_TEST_SECRET"

// What is left with the kernel outlives its process, and is gone once it was
// taken back.
func TestSecretOutlivesItsProcess(t *testing.T) {
	if dir := os.Getenv(secretVariable); dir != "" {
		if err := KeepSecret(dir, []byte("secret of "+dir)); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "run", "0123456789ab")
	t.Cleanup(func() { DropSecret(dir) })
	if _, err := KeptSecret(dir); err == nil {
		t.Error("there is a secret before one was left")
	}
	other := exec.Command(os.Args[0], "-test.run", "^TestSecretOutlivesItsProcess$")
	other.Env = append(os.Environ(), secretVariable+"="+dir)
	if out, err := other.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := KeptSecret(dir + "/")
	if err != nil || !bytes.Equal(got, []byte("secret of "+dir)) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := KeptSecret(dir + "0"); err == nil {
		t.Error("another session has the same secret")
	}
	if err := RemoveRun(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if _, err := KeptSecret(dir); err == nil {
		t.Error("it is still there after the session's directory was removed")
	}
}
