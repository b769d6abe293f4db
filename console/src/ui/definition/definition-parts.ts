/** What every tab of a definition's page shows: one definition, and the version that the address names. */
import type { DefinitionKind, DefinitionView } from '../decision/definition-kind.ts'

export interface DefinitionParts {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly of: DefinitionView
  /** A number, the draft, or null while there is neither. */
  readonly version: number | 'draft' | null
}
