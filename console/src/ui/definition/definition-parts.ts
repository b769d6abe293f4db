/** What every tab of the page of a matrix or rule shows: the definition, and the version that the address names. */
import type { DecisionKind, DefinitionView } from '../decision/definition-kind.ts'

export interface DefinitionParts {
  readonly kind: DecisionKind
  readonly definition_key: string
  readonly of: DefinitionView
  /** A number, the draft, or null while there is neither. */
  readonly version: number | 'draft' | null
}
