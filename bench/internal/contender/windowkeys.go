package contender

import (
	"time"

	"github.com/tallyring/tallyring/limiter"
)

// WindowKeys returns the engine's limiter with each kind of window that it has for its keys.
func WindowKeys() []HashedMaker {
	return []HashedMaker{
		limiterOf("fixed", "WithFixedWindow", limiter.WithFixedWindow()),
		limiterOf("sliding-2", "no option"),
		limiterOf("sliding-7", "WithResolution of a sixth", resolved(7)),
		limiterOf("sliding-61", "WithResolution of a sixtieth", resolved(61)),
		limiterOf("strict-2", "WithStrictWindow", limiter.WithStrictWindow()),
		limiterOf("strict-7", "WithStrictWindow, WithResolution of a sixth",
			limiter.WithStrictWindow(), resolved(7)),
		limiterOf("strict-61", "WithStrictWindow, WithResolution of a sixtieth",
			limiter.WithStrictWindow(), resolved(61)),
		{Info{Name: "gcra", Note: "WithBurst"}, func(keys int, limit Limit) (Hashed, error) {
			made, err := newLimiter(keys, limit, limiter.WithBurst(uint64(limit)))
			return hashes{made}, err
		}},
		limiterOf("log", "WithLog; its memory follows what it admits", limiter.WithLog()),
	}
}

func limiterOf(name, note string, options ...limiter.Option) HashedMaker {
	return HashedMaker{Info{Name: name, Note: note}, func(keys int, limit Limit) (Hashed, error) {
		made, err := newLimiter(keys, limit, options...)
		return hashes{made}, err
	}}
}

// resolved returns the option that makes so many slots of a window of Span.
func resolved(slots int) limiter.Option { return limiter.WithResolution(Span / widths(slots)) }

// widths returns how many buckets of a window of so many slots make up its length.
func widths(slots int) time.Duration { return time.Duration(max(slots-1, 1)) }
