/** Groups the differences of two decision documents by part. Pure. */
import { toPointer } from '#console/ui/decision/definition-model.ts'

interface Change {
  readonly pointer: string
  readonly before?: unknown
  readonly after?: unknown
}

const partTitles: Readonly<Record<string, string>> = { inputs: 'Inputs', outcome: 'Outcome', explanation: 'Reasons' }
const OTHER = 'Versions'
const order = ['Inputs', OTHER, 'Outcome', 'Reasons']

export function groupChangesByPart(changes: readonly Change[]): { title: string; changes: Change[] }[] {
  const placed = changes.flatMap(diffReadEntries).map((change) => {
    const first = change.pointer.split('/')[1] ?? ''
    const title = partTitles[first]
    // The group names the part, so the pointer starts below it.
    return title === undefined
      ? { title: OTHER, change }
      : { title, change: { ...change, pointer: change.pointer.slice(first.length + 1) } }
  })
  return order
    .map((title) => ({ title, changes: placed.filter((one) => one.title === title).map(({ change }) => change) }))
    .filter((part) => part.changes.length > 0)
}

interface ReadEntry {
  readonly list_key: string
  readonly key: string | null
  readonly field: string | null
  readonly value: unknown
  readonly hash: string
}

/** The entries that only one decision read, or that have different values. */
function diffReadEntries(change: Change): Change[] {
  const { pointer, before, after } = change
  if (pointer !== '/used' || !Array.isArray(before) || !Array.isArray(after)) return [change]
  const [earlier, later] = [indexByPlace(before), indexByPlace(after)]
  const places = [...new Set([...earlier.keys(), ...later.keys()])].sort()
  return places.flatMap((place) => {
    const [was, is] = [earlier.get(place), later.get(place)]
    const isSameValue = JSON.stringify(was?.value) === JSON.stringify(is?.value)
    if (isSameValue && was?.hash === is?.hash) return []
    // The value is the same but another field of the entry changed: compare the hashes.
    const getComparedValue = ({ value, hash }: ReadEntry) => (isSameValue ? hash.slice(0, 16) : value)
    return [
      { pointer: place, ...(was && { before: getComparedValue(was) }), ...(is && { after: getComparedValue(is) }) },
    ]
  })
}

const indexByPlace = (entries: readonly ReadEntry[]) =>
  new Map(
    entries.map((entry) => {
      const steps = [entry.list_key, entry.key, entry.field].filter((step) => step !== null)
      return [toPointer(...steps), entry] as const
    }),
  )
