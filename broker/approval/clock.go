package approval

import "time"

// Clock is the time an approval is measured by. Tests bring their own.
type Clock interface {
	Now() time.Time // with a monotonic reading
	NewTimer(d time.Duration) Timer
}

// Timer fires once on its channel unless it is stopped.
type Timer interface {
	C() <-chan time.Time
	Stop() bool
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) NewTimer(d time.Duration) Timer { return systemTimer{time.NewTimer(d)} }

type systemTimer struct{ *time.Timer }

func (t systemTimer) C() <-chan time.Time { return t.Timer.C }
