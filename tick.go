package tallyring

// Tick is a time in nanoseconds on a monotonic clock whose origin is arbitrary; 0 is a legal tick
// and negative ticks count as 0. It is wall time only where a log or a shared store gives it, and
// then Unix time. All ticks given to one limiter come from one clock.
type Tick int64
