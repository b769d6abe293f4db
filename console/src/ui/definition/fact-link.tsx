/** Names the fact of a source contract that gives an input. */
import { Text } from '@mantine/core'
import { SearchLink } from '../search-link.tsx'

export function FactLink({ of }: { readonly of: { readonly contract_key: string; readonly fact: string } }) {
  return (
    <Text size="xs" component="div">
      fact {of.fact} of{' '}
      <SearchLink to={`/source-contracts/${of.contract_key}`} search={{ tab: 'lineage' }} inherit>
        {of.contract_key}
      </SearchLink>
    </Text>
  )
}
