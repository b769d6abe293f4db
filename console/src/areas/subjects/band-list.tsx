/** What the two lists behind the counts of the portfolio share: filters by band and matrix, and the cells of a subject. */
import { Pill, Table, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { KnownFilter, UnknownFilter, useKnownFilter, useSetFilter } from '#console/ui/filters.tsx'
import { omitUndefined, toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { subjectFiltersQuery } from '#console/ui/subject-queries.ts'

export function useBandFilters() {
  const { data: known } = useSuspenseQuery(subjectFiltersQuery)
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>
  const band = useKnownFilter('band', known.bands)
  const matrix_key = search['matrix_key'] === undefined ? undefined : String(search['matrix_key'])
  return {
    bands: known.bands,
    unknown: band.unknown,
    query: omitUndefined({ band: band.value, matrix_key }),
  }
}

type BandFilters = ReturnType<typeof useBandFilters>

export function BandFilter({ of }: { readonly of: BandFilters }) {
  const set = useSetFilter()
  const { matrix_key } = of.query
  return (
    <>
      <KnownFilter name="band" label="Band" choices={of.bands} everything="Any band" />
      {matrix_key !== undefined && (
        <Pill
          size="md"
          withRemoveButton
          onRemove={() => set('matrix_key', null)}
          removeButtonProps={{ 'aria-label': 'Rated by any matrix' }}
        >
          {`Rated by: ${toSentence(matrix_key)}`}
        </Pill>
      )}
    </>
  )
}

export function UnknownBand({ of }: { readonly of: BandFilters }) {
  return of.unknown === undefined ? null : <UnknownFilter name="band" word="band" given={of.unknown} />
}

/** Not where the list was refused: a period that ends before it begins has no rows. */
export const hasRows = ({ error, data }: { readonly error: unknown; readonly data: unknown }): boolean =>
  error === null || data !== undefined

const causes: Readonly<Record<string, string>> = {
  evaluation: 'evaluation',
  batch: 'batch evaluation',
  override: 'override',
  'override-ended': 'override ended',
  'override-expired': 'override expired',
  offboarded: 'relationship ended',
}

interface SubjectCellsProps {
  readonly of: { readonly subject_id: string; readonly name: string; readonly external_id: string | null }
}

export function SubjectCells({ of }: SubjectCellsProps) {
  return (
    <>
      <Table.Td>
        <PageLink to={`/subjects/${of.subject_id}`} size="sm" fw={500}>
          {of.name}
        </PageLink>
      </Table.Td>
      <Table.Td visibleFrom="md" className="mono">
        {of.external_id ?? '–'}
      </Table.Td>
    </>
  )
}

export function CauseCell({ of }: { readonly of: string }) {
  return (
    <Table.Td visibleFrom="sm">
      <Text size="sm">{causes[of] ?? of}</Text>
    </Table.Td>
  )
}
