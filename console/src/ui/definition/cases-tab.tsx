/** Golden cases: the results every version must return, run on a version or the draft. */

import { Badge, Button, Group, NumberInput, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '../api-mutation.ts'
import { ApprovalNote } from '../approval-note.tsx'
import { textQuery, toApiPath, toOperationId, toPathParams } from '../decision/definition-kind.ts'
import { parseDefinition } from '../decision/definition-model.ts'
import { Findings } from '../decision/findings.tsx'
import { type Inputs, InputsForm } from '../decision/inputs-form.tsx'
import { formatResult } from '../decision/outcome.tsx'
import { FormDialog } from '../dialog.tsx'
import { formatCount } from '../format.ts'
import { ListTable, usePages } from '../list.tsx'
import type { Origin } from '../origin.ts'
import { formatPoints } from '../points.ts'
import { ProblemNote } from '../problem-note.tsx'
import { SearchLink } from '../search-link.tsx'
import type { DefinitionParts } from './definition-parts.ts'

type Case = Schemas['GoldenCase']
type Report = Schemas['TestReport']

export function CasesTab(parts: DefinitionParts) {
  const { kind, definition_key, of, version } = parts
  const may = usePermission()
  const [report, setReport] = useState<Report | null>(null)
  const [isAdding, adding] = useDisclosure(false)
  const list = usePages<Case>(['definitions', kind.family, 'cases', definition_key, of.origin], (cursor, signal) =>
    probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}/test-cases'), {
      params: { path: toPathParams(kind, definition_key), query: { ...cursor, origin: of.origin, limit: 100 } },
      signal,
    }),
  )
  const run = useApiMutation(
    () =>
      probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/test'), {
        params: {
          path: { ...toPathParams(kind, definition_key), version: String(of.draft === null ? version : 'draft') },
          query: { origin: of.origin },
        },
        body: {},
      }),
    { invalidates: [], onDone: setReport },
  )
  const remove = useApiMutation(
    (case_id: string) =>
      probity.DELETE(toApiPath(kind, '/api/risk-matrices/{matrix_key}/test-cases/{case_id}'), {
        params: { path: { ...toPathParams(kind, definition_key), case_id } },
      }),
    { invalidates: ['definitions'], successMessage: 'Golden case removed' },
  )
  const isOurs = of.origin === 'own' && of.state === 'live'
  const what = of.draft === null ? `version ${version}` : 'the draft'
  return (
    <Stack gap="sm">
      <Group gap="xs">
        {version !== null && may(toOperationId(kind, 'test', 'Version')) && (
          <Button size="xs" loading={run.isRunning} onClick={() => run.run(undefined)}>
            Run on {what}
          </Button>
        )}
        {isOurs && version !== null && may(toOperationId(kind, 'create', 'Case')) && (
          <Button size="xs" variant="default" onClick={adding.open}>
            Add golden case
          </Button>
        )}
        {report && (
          <Badge variant="light" size="lg" tt="none" color={report.failed > 0 ? 'red' : 'teal'} role="status">
            {formatCount(report.passed, 'case')} passed, {report.failed} failed
          </Badge>
        )}
      </Group>
      <ProblemNote problem={run.problem ?? remove.problem} />
      <ApprovalNote request={remove.waiting} />
      {report && <Findings findings={report.findings} title="Findings" />}
      <ListTable<Case>
        label="Golden cases"
        list={list}
        empty={{
          title: 'No golden cases yet',
          about:
            'A golden case states the result that every version must return. Versions that return another result cannot be published.',
        }}
        head={[{ name: 'Case' }, { name: 'Expected' }, { name: 'Result' }, { name: 'Actions', isHidden: true }]}
        row={(one) => (
          <CaseRow
            key={one.case_id}
            one={one}
            place={`${kind.basePath}/${definition_key}`}
            origin={of.origin}
            result={report?.results.find(({ name }) => name === one.name)}
            onRemove={isOurs && may(toOperationId(kind, 'delete', 'Case')) ? () => remove.run(one.case_id) : null}
          />
        )}
      />
      {version !== null && isAdding && (
        <AddCase {...parts} version={of.draft === null ? version : 'draft'} onClose={adding.close} />
      )}
    </Stack>
  )
}

interface CaseRowProps {
  readonly one: Case
  readonly place: string
  readonly origin: Origin
  readonly result: Report['results'][number] | undefined
  /** Null if the user may not remove the case. */
  readonly onRemove: (() => void) | null
}

function CaseRow({ one, place, origin, result, onRemove }: CaseRowProps) {
  return (
    <Table.Tr>
      <Table.Td>
        {one.name}
        {one.note && (
          <Text size="xs" c="dimmed">
            {one.note}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{formatExpected(one)}</Table.Td>
      <Table.Td>
        <CaseVerdict of={result} />
      </Table.Td>
      <Table.Td>
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <SearchLink to={place} search={{ tab: 'simulate', origin, inputs: JSON.stringify(one.inputs) }} size="sm">
            Simulate<span className="sr-only"> {one.name}</span>
          </SearchLink>
          {onRemove && (
            <Button size="compact-xs" variant="subtle" color="red" onClick={onRemove}>
              Remove<span className="sr-only"> {one.name}</span>
            </Button>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

const formatExpected = ({ expected: { band, score_bps, hit, reason_codes } }: Case): string =>
  [
    band,
    hit !== undefined && (hit ? 'hit' : 'no hit'),
    score_bps !== undefined && `score ${formatPoints(score_bps)}`,
    reason_codes?.join(', '),
  ]
    .filter(Boolean)
    .join(', ')

function CaseVerdict({ of }: { readonly of: Report['results'][number] | undefined }) {
  if (!of) return <span className="quiet">not run</span>
  const outcome = of.outcome as unknown as { band?: string; hit?: boolean } | null
  return (
    <div>
      <Badge variant="light" tt="none" color={of.passed ? 'teal' : 'red'}>
        {of.passed ? 'passed' : 'failed'}
      </Badge>{' '}
      {outcome && (
        <span className="quiet">{formatResult({ band: outcome.band ?? null, hit: outcome.hit ?? null })}</span>
      )}
      {of.differences.map((difference) => (
        <Text size="xs" key={difference}>
          {difference}
        </Text>
      ))}
    </div>
  )
}

interface AddCaseProps extends DefinitionParts {
  readonly version: number | 'draft'
  readonly onClose: () => void
}

function AddCase({ kind, definition_key, of, version, onClose }: AddCaseProps) {
  const { data: text } = useSuspenseQuery(textQuery(kind, definition_key, version, of.origin))
  const { inputs: declared = [] } = parseDefinition(text.definition)
  const [order, setOrder] = useState({ name: '', band: '', score: '' as number | '', hit: null as string | null })
  const [inputs, setInputs] = useState<Inputs>({})
  const add = useApiMutation(
    () =>
      probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/test-cases'), {
        params: { path: toPathParams(kind, definition_key) },
        body: {
          name: order.name,
          inputs,
          expected: {
            ...(order.band !== '' && { band: order.band }),
            ...(order.score !== '' && { score_bps: order.score }),
            ...(order.hit !== null && { hit: order.hit === 'hit' }),
          },
        },
      }),
    { invalidates: ['definitions'], successMessage: 'Golden case added', onDone: onClose },
  )
  return (
    <FormDialog
      title="Add golden case"
      isOpen
      onClose={onClose}
      onSubmit={() => add.run(undefined)}
      submit="Add"
      change={add}
      size="xl"
    >
      <TextInput
        data-autofocus
        label="Name"
        required
        maxLength={200}
        value={order.name}
        onChange={(event) => setOrder({ ...order, name: event.currentTarget.value })}
      />
      <InputsForm inputs={declared} values={inputs} onChange={setInputs} />
      {kind.family === 'matrix' ? (
        <Group grow>
          <TextInput
            label="Expected band"
            required={order.score === ''}
            value={order.band}
            onChange={(event) => setOrder({ ...order, band: event.currentTarget.value })}
          />
          <NumberInput
            label="Expected score of 10,000 (optional)"
            min={0}
            max={10_000}
            allowDecimal={false}
            value={order.score}
            onChange={(score) => setOrder({ ...order, score: typeof score === 'number' ? score : '' })}
          />
        </Group>
      ) : (
        <Select
          label="Expected result"
          required
          data={['hit', 'no hit']}
          value={order.hit}
          onChange={(hit) => setOrder({ ...order, hit })}
        />
      )}
    </FormDialog>
  )
}
