/** The changed inputs of a what-if request. Pure. */

type Inputs = Readonly<Record<string, unknown>>

/** Returns changed inputs only; a removed input is null. */
export function pickChangedInputs(stored: Inputs, now: Inputs): Record<string, unknown> {
  const changed = Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(stored[name]))
  const removed = Object.keys(stored).filter((name) => !(name in now))
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null] as const)])
}
