/** How much two versions differ: a sign, a number and a word each, so that colour only repeats what is said. */
import './registry.css'

interface DifferenceCountsProps {
  readonly of: {
    readonly added: number
    readonly removed: number
    readonly changed: number
    /** The same entries in the form of a newer version of the type. */
    readonly restated?: number | undefined
  }
}

export const signs = { added: '+', removed: '−', changed: '±' } as const
export type Kind = keyof typeof signs
export const kinds: readonly Kind[] = ['added', 'removed', 'changed']

export function DifferenceCounts({ of }: DifferenceCountsProps) {
  const some = kinds.filter((kind) => of[kind] > 0)
  if (some.length === 0 && !of.restated) return <span className="quiet">the same content</span>
  return (
    <span className="counts">
      {some.map((kind) => (
        <span key={kind} className={`count count-${kind}`}>
          <b aria-hidden="true">{signs[kind]}</b> {of[kind].toLocaleString('en')} {kind}
        </span>
      ))}
      {of.restated ? (
        <span className="quiet">
          {of.restated.toLocaleString('en')} the same, stored in the form of the type’s new version
        </span>
      ) : null}
    </span>
  )
}
