/** Chooses a stored document by its title. */
import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'

interface DocumentSelectProps {
  readonly document_id: string | null
  readonly onChange: (document_id: string | null) => void
}

export function DocumentSelect({ document_id, onChange }: DocumentSelectProps) {
  const { data } = useQuery({
    queryKey: ['documents', 'choices'],
    queryFn: ({ signal }) =>
      probity.GET('/api/documents', { params: { query: { state: 'stored', limit: 200 } }, signal }),
    throwOnError: false,
  })
  const choices = (data?.items ?? []).map(({ document_id: value, title, file_name, restriction_id }) => ({
    value,
    label: `${title ?? file_name ?? value}${restriction_id === null ? '' : ' (restricted)'}`,
  }))
  const isListed = document_id === null || choices.some(({ value }) => value === document_id)
  return (
    <Select
      label="Document"
      placeholder="Title"
      required
      searchable
      nothingFoundMessage="No document has this title"
      data={isListed ? choices : [...choices, { value: document_id, label: `Document ${document_id.slice(-8)}` }]}
      value={document_id}
      onChange={onChange}
    />
  )
}
