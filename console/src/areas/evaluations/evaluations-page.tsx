/** All decisions, newest first, with their subject, filtered by matrix or rule, result, subject and time. */

import { DefinitionName } from '#console/ui/decision/definition-name.tsx'
import '../../ui/decision/decision.css'
import { Autocomplete, Badge, Group, SegmentedControl, Table, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import {
  definitionsQuery,
  getDefinitionKey,
  getKind,
  matrixKind,
  ruleKind,
} from '#console/ui/decision/definition-kind.ts'
import { TestMark } from '#console/ui/decision/is-test-mark.tsx'
import { ResultMark } from '#console/ui/decision/outcome.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import {
  describeUnknown,
  Filter,
  KnownFilter,
  UnknownFilter,
  useFilter,
  useKnownFilter,
  useSetFilter,
  useSetFilters,
} from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { findUnknownTime, toInstant } from '#console/ui/local-time.ts'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'
import { isSubjectId, subjectFiltersQuery } from '#console/ui/subject-queries.ts'
import { BatchDecisions } from './batch-decisions.tsx'

type Item = Schemas['EvaluationItem']

const families = ['matrix', 'rule'] as const

interface Search {
  readonly family?: (typeof families)[number]
  readonly definition?: string
  readonly band?: string
  readonly subject?: string
  readonly batch?: string
  readonly from?: string
  readonly until?: string
}

const sources = ['single', 'batch'] as const

export default function EvaluationsPage() {
  const may = usePermission()
  const given = useSearch({ strict: false }) as Search
  // The router reads a year as a number.
  const search = { ...given, ...omitUndefined({ from: toText(given.from), until: toText(given.until) }) }
  const set = useSetFilters()
  const chosenSource = useFilter('source', sources) ?? 'single'
  const source = search.batch === undefined ? chosenSource : 'batch'
  return (
    <Page
      title="Evaluations"
      about="All decisions with the versions they used. Each is explained; a single decision can also be replayed and exported as evidence."
      actions={may('createEvaluation') && <ButtonLink to="/evaluations/new">New evaluation</ButtonLink>}
    >
      {may('listBatchEvaluations') && (
        <SegmentedControl
          size="xs"
          mb="sm"
          aria-label="Decisions shown"
          value={source}
          onChange={(chosen) => set({ source: chosen, batch: undefined })}
          data={[
            { value: 'single', label: 'Single decisions' },
            { value: 'batch', label: 'Batch decisions' },
          ]}
        />
      )}
      {source === 'batch' ? <BatchDecisions search={search} /> : <SingleDecisions search={search} />}
    </Page>
  )
}

const toText = (value: unknown) => (value === undefined ? undefined : String(value))

function SingleDecisions({ search }: { readonly search: Search }) {
  const may = usePermission()
  const set = useSetFilter()
  const family = families.find((one) => one === search.family)
  const { data: known } = useSuspenseQuery(subjectFiltersQuery)
  const band = useKnownFilter('band', known.bands)
  const query = omitUndefined({
    family,
    matrix_key: family !== 'rule' && search.definition ? search.definition : undefined,
    rule_key: family === 'rule' && search.definition ? search.definition : undefined,
    band: band.value,
    subject_id: isSubjectId(search.subject) ? search.subject : undefined,
    from_at: toInstant(search.from ?? ''),
    until_at: toInstant(search.until ?? ''),
  })
  const list = usePages<Item>(['evaluations', 'list', query], (cursor, signal) =>
    probity.GET('/api/evaluations', { params: { query: { ...cursor, ...query, limit: 50 } }, signal }),
  )
  const field = (name: keyof Search, label: string, width: number) => (
    <TextInput
      size="xs"
      w={width}
      type="datetime-local"
      label={label}
      value={search[name] ?? ''}
      error={describeUnknown(findUnknownTime(search[name] ?? ''))}
      onChange={(event) => set(name, event.currentTarget.value || null)}
    />
  )
  return (
    <>
      <Group gap="xs" mb="sm" align="flex-end">
        <Filter name="family" label="Decided by" values={families} everything="Matrices and rules" />
        <DefinitionFilter family={family} chosen={search.definition ?? ''} onChange={(key) => set('definition', key)} />
        <KnownFilter name="band" label="Band" choices={known.bands} everything="Any band" />
        <SubjectPicker
          label="Subject"
          size="xs"
          width={220}
          subject_id={search.subject ?? null}
          onChange={(subject_id) => set('subject', subject_id)}
        />
        {field('from', 'Decided from', 175)}
        {field('until', 'until', 175)}
      </Group>
      {band.unknown !== undefined ? (
        <UnknownFilter name="band" word="band" given={band.unknown} />
      ) : (
        <ListTable<Item>
          label="Evaluations"
          list={list}
          empty={{
            title: 'No decisions yet',
            about: 'Each evaluation of a subject is stored here with its reasons, inputs and versions.',
            filters: ['family', 'definition', 'band', 'subject', 'from', 'until'],
            action: may('createEvaluation') && (
              <ButtonLink to="/evaluations/new" size="xs">
                Make the first evaluation
              </ButtonLink>
            ),
          }}
          head={[
            { name: 'Subject' },
            { name: 'Result' },
            { name: 'Decided by', from: 'sm' },
            { name: 'Reasons', from: 'lg' },
            { name: 'When', from: 'sm' },
            { name: 'By', from: 'md' },
          ]}
          row={(one) => <Row key={one.evaluation_id} one={one} />}
        />
      )}
    </>
  )
}

interface DefinitionFilterProps {
  readonly family: (typeof families)[number] | undefined
  readonly chosen: string
  readonly onChange: (key: string | null) => void
}

/** Suggests the keys of matrices, of rules, or of both. */
function DefinitionFilter({ family, chosen, onChange }: DefinitionFilterProps) {
  const { data: matrices = [] } = useQuery({ ...definitionsQuery(matrixKind), enabled: family !== 'rule' })
  const { data: rules = [] } = useQuery({ ...definitionsQuery(ruleKind), enabled: family === 'rule' })
  const keys = [...new Set((family === 'rule' ? rules : matrices).map(getDefinitionKey))]
  return (
    <Autocomplete
      size="xs"
      w={180}
      label="Matrix or rule"
      limit={50}
      data={keys}
      value={chosen}
      onChange={(key) => onChange(key || null)}
    />
  )
}

function Row({ one }: { readonly one: Item }) {
  const name = one.subject_name ?? (one.subject_id === null ? 'Inputs only' : `Subject ${one.subject_id.slice(-8)}`)
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/evaluations/${one.evaluation_id}`} size="sm" fw={500}>
          {name}
          <span className="sr-only">
            , open the decision of <DefinitionName {...one} />
          </span>
        </PageLink>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          <RelativeTime at={one.decided_at} />
        </Text>
      </Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          <ResultMark of={one} />
          {one.score_bps !== null && <span className="number quiet">{one.score_bps.toLocaleString('en')}</span>}
        </Group>
        <TestMark of={one} />
        {!one.intact && (
          <Badge color="red" tt="none" mt={2}>
            altered
          </Badge>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <PageLink to={`${getKind(one.family).basePath}/${one.definition_key}`} size="sm">
          <DefinitionName {...one} />
        </PageLink>
        <Text size="xs" c="dimmed">
          version {one.definition_version}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <Text size="xs" className="cell-text">
          <ReasonCodes of={one.reason_codes} />
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={one.decided_at} />
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Principal of={one.created_by} />
      </Table.Td>
    </Table.Tr>
  )
}
