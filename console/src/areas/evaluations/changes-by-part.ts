/** The fields in which two decision documents differ, by what they are part of. Pure. */

interface Change {
  readonly pointer: string
}

const parts: Readonly<Record<string, string>> = { inputs: 'Inputs', outcome: 'Outcome', explanation: 'Reasons' }
const OTHER = 'What it stood on'
const order = ['Inputs', OTHER, 'Outcome', 'Reasons']

export function changesByPart<C extends Change>(changes: readonly C[]): { title: string; changes: C[] }[] {
  const placed = changes.map((change) => {
    const first = change.pointer.split('/')[1] ?? ''
    const title = parts[first]
    // Its part is said already: what is left is the place in it.
    return title === undefined
      ? { title: OTHER, change }
      : { title, change: { ...change, pointer: change.pointer.slice(first.length + 1) } }
  })
  return order
    .map((title) => ({ title, changes: placed.filter((one) => one.title === title).map(({ change }) => change) }))
    .filter((part) => part.changes.length > 0)
}
