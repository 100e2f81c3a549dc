// Package chart draws the few charts that the pages need, as SVG inside of HTML.
//
// Places are percentages, lines are stretched without their width, and text is HTML in the size of
// the page: one drawing fits a phone and a desk. Colours come from the page's style, which has a
// light and a dark set; every series also has a mark or a dash of its own, so that nothing hangs on
// the colours. The page needs nothing beside itself, and no script to be read.
//
// Chart libraries were looked at first: those for Go draw at a fixed size, with text that shrinks
// on a phone and colours that know no dark page, or bring a megabyte of script; and the page of
// bench/ is drawn like this one.
package chart
