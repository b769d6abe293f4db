/** What a supposition sends of inputs that are edited as a whole. Pure. */

type Inputs = Readonly<Record<string, unknown>>

/** Only what differs is sent; an input that was taken away is sent as null. */
export function pickChangedInputs(stored: Inputs, now: Inputs): Record<string, unknown> {
  const changed = Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(stored[name]))
  const gone = Object.keys(stored).filter((name) => !(name in now))
  return Object.fromEntries([...changed, ...gone.map((name) => [name, null] as const)])
}
