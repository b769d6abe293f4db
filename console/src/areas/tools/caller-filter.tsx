/** The caller in the filters of the call log: those whom the audit record names. */
import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useSetFilter } from '#console/ui/filters.tsx'

export function CallerFilter({ principal }: { readonly principal: string | undefined }) {
  const may = usePermission()
  const set = useSetFilter()
  const { data } = useQuery({
    queryKey: ['audit', 'filters'],
    queryFn: ({ signal }) => probity.GET('/api/audit/filters', { signal }),
    staleTime: 60_000,
    throwOnError: false,
    enabled: may('getAuditFilters'),
  })
  const callers = (data?.actors ?? [])
    .filter(({ actor }) => /^(user|key):/.test(actor))
    .map(({ actor, name }) => ({ value: actor, label: name ?? actor }))
  const isListed = principal === undefined || callers.some(({ value }) => value === principal)
  return (
    <Select
      size="xs"
      w={190}
      label="Caller"
      placeholder="All callers"
      searchable
      clearable
      nothingFoundMessage="Nothing found"
      limit={100}
      data={isListed ? callers : [...callers, { value: principal, label: principal }]}
      value={principal ?? null}
      onChange={(chosen) => set('principal', chosen)}
      clearButtonProps={{ 'aria-label': 'Clear caller' }}
    />
  )
}
