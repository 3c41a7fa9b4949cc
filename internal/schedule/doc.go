// Package schedule computes when something that recurs is due: cron lines in a time zone and intervals anchored to the
// clock. It also says what becomes of the fires that nobody was there for, and of one that meets its predecessor still
// at work.
//
// It guarantees that the answer depends on the arguments alone, that fires are strictly rising, and that a reading of
// the local clock fires once:
//
//   - A reading the clock shows twice (the overlap when summer time ends) fires the first time only.
//   - A reading the clock skips (the gap when summer time begins) fires at the moment of the jump. Several skipped
//     readings, and the one the clock jumps to, are one fire.
//   - An interval is even in elapsed time: it counts from Monday, 1 January of the year 1, 00:00 UTC, so that every 15m
//     fires at each quarter of an hour, 24h at midnight UTC and 168h on Mondays, whenever the server was started. It
//     knows neither gap nor overlap; a rhythm that shall not pause in the hour that comes twice is an interval.
//
// It must not know tasks, runs, timers in a database, the present time or randomness.
package schedule
