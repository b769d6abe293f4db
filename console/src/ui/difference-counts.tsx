/** Counts of added, removed and changed entries. Colour only repeats the text. */
import './registry.css'

interface DifferenceCountsProps {
  readonly of: {
    readonly added: number
    readonly removed: number
    readonly changed: number
    /** The same entries in the format of a newer type version. */
    readonly restated?: number | undefined
  }
}

export const signs = { added: '+', removed: '−', changed: '±' } as const
export type Kind = keyof typeof signs
export const kinds: readonly Kind[] = ['added', 'removed', 'changed']

export function DifferenceCounts({ of }: DifferenceCountsProps) {
  const some = kinds.filter((kind) => of[kind] > 0)
  if (some.length === 0 && !of.restated) return <span className="quiet">same content</span>
  return (
    <span className="counts">
      {some.map((kind) => (
        <span key={kind} className={`count count-${kind}`}>
          <b aria-hidden="true">{signs[kind]}</b> {of[kind].toLocaleString('en')} {kind}
        </span>
      ))}
      {of.restated ? (
        <span className="quiet">
          {of.restated.toLocaleString('en')} same content in the format of the new type version
        </span>
      ) : null}
    </span>
  )
}
