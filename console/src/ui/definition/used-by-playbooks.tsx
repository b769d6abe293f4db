/** Playbooks in force whose steps name a matrix, rule or provider. */
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { SearchLink } from '../search-link.tsx'
import { Facts, Section } from '../section.tsx'

interface UsedByPlaybooksProps {
  readonly family: 'matrix' | 'rule' | 'provider'
  readonly definition_key: string
}

/** Nothing where no playbook names it. */
export function UsedByPlaybooks({ family, definition_key }: UsedByPlaybooksProps) {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['definitions', 'playbook', 'uses', family, definition_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/playbooks/uses', { params: { query: { family, key: definition_key } }, signal }),
    enabled: may('listPlaybookUses'),
    throwOnError: false,
  })
  if (!data || data.items.length === 0) return null
  return (
    <Section title="Used by playbooks">
      <Facts
        of={data.items.map(({ playbook_key, title, origin, steps }) => [
          title,
          <span key={playbook_key}>
            <SearchLink to={`/playbooks/${playbook_key}`} search={{ origin }} inherit>
              {playbook_key}
            </SearchLink>
            <span className="quiet">
              {' '}
              {steps.length === 1 ? 'step' : 'steps'} {steps.join(', ')}
            </span>
          </span>,
        ])}
      />
    </Section>
  )
}
