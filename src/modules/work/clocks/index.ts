/** Clocks: when work is due, by law or by the tenant's own target. */
export type { Duration } from './calendar.ts'
export { type NewClock, pauseClocks, resumeClocks, startClock, stopClocks } from './clocks.ts'
export { type ClockRow, listClocksByObject, type ObjectRef } from './queries.ts'
