/** A matrix or rule by its title, with its key as a hint. */
import { useTargetName } from '../change-request/use-target-name.ts'
import { TargetName } from '../target-name.tsx'
import type { DefinitionKind } from './definition-kind.ts'

interface DefinitionNameProps {
  readonly family: DefinitionKind['family']
  readonly definition_key: string
}

/** The title; the key until it is loaded, and where it cannot be read. */
export const useDefinitionName = ({ family, definition_key }: DefinitionNameProps): string =>
  useTargetName({ kind: family, key: definition_key })

export function DefinitionName({ family, definition_key }: DefinitionNameProps) {
  return <TargetName kind={family} target_key={definition_key} />
}

interface NamedTextProps {
  readonly text: string
  readonly definitions: readonly { readonly family: DefinitionKind['family']; readonly key: string }[]
}

/** A sentence of the server in which matrices and rules are named by their keys. */
export function NamedText({ text, definitions }: NamedTextProps) {
  return text.split(/([a-z0-9]+(?:-[a-z0-9]+)*)/).map((part, place) => {
    const named = definitions.find(({ key }) => key === part)
    return named ? <DefinitionName key={place} family={named.family} definition_key={named.key} /> : part
  })
}
