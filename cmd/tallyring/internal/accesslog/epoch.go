package accesslog

import (
	"strconv"
	"strings"

	"github.com/tallyring/tallyring"
)

// parseEpoch reads a decimal number since 1970 without passing through a float, which could not
// hold today's nanoseconds. The unit follows from the size: seconds up to the year 5138, then
// milliseconds, microseconds and nanoseconds. What is finer than a nanosecond is cut off.
func parseEpoch(text string) (tallyring.Tick, error) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(text[i+1:])
		if err != nil || n < -30 || n > 30 {
			return 0, ErrTime
		}
		mantissa, exponent = text[:i], n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" || !allDigits(whole) || !allDigits(fraction) || len(text) > 64 {
		return 0, ErrTime
	}
	whole, fraction = shiftPoint(whole, fraction, exponent)
	whole = strings.TrimLeft(whole, "0")
	decimals := 0 // digits between the unit and the nanosecond
	switch {
	case len(whole) <= 11:
		decimals = 9
	case len(whole) <= 14:
		decimals = 6
	case len(whole) <= 17:
		decimals = 3
	}
	fraction = (fraction + "000000000")[:decimals]
	nanos, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return 0, ErrTime
	}
	return tallyring.Tick(nanos), nil
}

// shiftPoint moves the decimal point by exponent digits, to the right where it is positive.
func shiftPoint(whole, fraction string, exponent int) (string, string) {
	if exponent >= 0 {
		fraction += strings.Repeat("0", exponent)
		return whole + fraction[:exponent], fraction[exponent:]
	}
	whole = strings.Repeat("0", -exponent) + whole
	cut := len(whole) + exponent
	return whole[:cut], whole[cut:] + fraction
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
