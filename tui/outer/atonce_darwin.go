package outer

// atOnce writes what a terminal takes without waiting: nothing, here.
type atOnce struct{}

func newAtOnce(int) *atOnce { return &atOnce{} }

func (a *atOnce) write([]byte) int { return 0 }

func (a *atOnce) close() error { return nil }
