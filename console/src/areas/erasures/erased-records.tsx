/** What an erasure that is done overwrote or removed, by kind, as its certificate says. */
import { Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { formatCount, toSentence } from '#console/ui/format.ts'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { Section } from '#console/ui/section.tsx'
import { Left } from './erasure-classes.tsx'

type Certificate = Schemas['ErasureCertificate']
type Erased = Certificate['erased'][number]

/** Rows with a restriction are counted in annexes: the sum is of those that the user may see. */
function sumByClass({ erased, annexes }: Certificate): readonly Erased[] {
  const sums = new Map<string, Erased>()
  for (const one of [erased, ...annexes.map((annex) => annex.erased)].flat()) {
    const sum = sums.get(one.class) ?? { class: one.class, count: 0, left_for_review: 0, kept_by_hold: 0 }
    sums.set(one.class, {
      class: one.class,
      count: sum.count + one.count,
      left_for_review: sum.left_for_review + one.left_for_review,
      kept_by_hold: sum.kept_by_hold + one.kept_by_hold,
    })
  }
  return [...sums.values()].filter((one) => one.count + one.left_for_review + one.kept_by_hold > 0)
}

export function ErasedRecords({ erasure_id }: { readonly erasure_id: string }) {
  const may = usePermission()
  const { data: certificate } = useQuery({
    queryKey: ['erasures', 'certificate', erasure_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/erasures/{erasure_id}/certificate', { params: { path: { erasure_id } }, signal }),
    enabled: may('getErasureCertificate'),
    throwOnError: false,
  })
  if (certificate === undefined) return null
  return (
    <Section title="What was erased">
      <Stack gap="xs">
        <PlainTable
          label="Erased records"
          head={[{ name: 'Records' }, { name: 'Overwritten or removed' }]}
          empty={{ title: 'Nothing was stored', about: 'Beside the subject itself there was nothing to erase.' }}
        >
          {sumByClass(certificate).map((one) => (
            <Table.Tr key={one.class}>
              <Table.Td>{toSentence(one.class)}</Table.Td>
              <Table.Td>
                {one.count.toLocaleString('en')}
                <Left of={one} />
              </Table.Td>
            </Table.Tr>
          ))}
        </PlainTable>
        <Text size="xs" c="dimmed">
          {formatCount(certificate.keys_destroyed, 'key')} destroyed: copies that were encrypted with them can no longer
          be read. The subject itself was overwritten.
        </Text>
      </Stack>
    </Section>
  )
}
