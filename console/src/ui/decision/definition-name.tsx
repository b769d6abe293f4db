/** A matrix or rule by its title, with its key as a hint. */
import { useQuery } from '@tanstack/react-query'
import type { Origin } from '../origin.ts'
import { definitionQuery, getKind } from './definition-kind.ts'

interface DefinitionNameProps {
  readonly family: 'matrix' | 'rule'
  readonly definition_key: string
  /** Without an owner, the name of the one in force. */
  readonly origin?: Origin | undefined
}

/** The title; the key until it is loaded, and where it cannot be read. */
export function useDefinitionName({ family, definition_key, origin }: DefinitionNameProps): string {
  const { data } = useQuery({
    ...definitionQuery(getKind(family), definition_key, origin),
    staleTime: 300_000,
    retry: false,
    throwOnError: false,
  })
  return data?.title ?? definition_key
}

export function DefinitionName(props: DefinitionNameProps) {
  return <span title={props.definition_key}>{useDefinitionName(props)}</span>
}

interface NamedTextProps {
  readonly text: string
  readonly definitions: readonly { readonly family: 'matrix' | 'rule'; readonly key: string }[]
}

/** A sentence of the server in which matrices and rules are named by their keys. */
export function NamedText({ text, definitions }: NamedTextProps) {
  return text.split(/([a-z0-9]+(?:-[a-z0-9]+)*)/).map((part, place) => {
    const named = definitions.find(({ key }) => key === part)
    return named ? <DefinitionName key={place} family={named.family} definition_key={named.key} /> : part
  })
}
