/** Chooses a person whom work can be given to. */
import { Select } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe } from '#console/session/queries.ts'

const workersQuery = queryOptions({
  queryKey: ['work', 'people'],
  queryFn: ({ signal }) => probity.GET('/api/work/people', { params: { query: { limit: 200 } }, signal }),
  staleTime: 60_000,
  throwOnError: false,
})

interface WorkerSelectProps {
  readonly user_id: string | null
  readonly onChange: (user_id: string | null) => void
  /** Not offered. */
  readonly except?: string
}

export function WorkerSelect({ user_id, onChange, except }: WorkerSelectProps) {
  const { principal } = useMe()
  const { data } = useQuery(workersQuery)
  return (
    <Select
      label="Person"
      placeholder="Name"
      required
      searchable
      data-autofocus
      nothingFoundMessage="Nobody has this name"
      data={(data?.items ?? [])
        .filter((person) => person.user_id !== except)
        .map((person) => ({
          value: person.user_id,
          label: `${person.name}${principal === `user:${person.user_id}` ? ' (you)' : ''}${person.is_away ? ' (away)' : ''}`,
          disabled: person.is_away,
        }))}
      value={user_id}
      onChange={onChange}
    />
  )
}
