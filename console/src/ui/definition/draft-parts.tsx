/** The parts of a draft to be worked on: tables as grids, simple things as fields, the rest as JSON with located faults. */
import { Button, Group, Menu, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { memo } from 'react'
import type { Finding, Kind } from '../decision/kind.ts'
import { aggregations, type Definition, type Factor, type Table } from '../decision/model.ts'
import { Section } from '../section.tsx'
import { spaced } from '../words.ts'
import { FactorPart } from './factor-part.tsx'
import { JsonPart } from './json-part.tsx'
import { tableIn } from './table-edits.ts'
import { TableGrid } from './table-grid.tsx'

interface DraftPartsProps {
  readonly kind: Kind
  readonly draft: Definition
  readonly findings: readonly Finding[]
  /** Always the same function: parts that are not edited are then not drawn again with each letter. */
  readonly onEdit: (edit: (draft: Definition) => Definition) => void
}

/** What a column may be: an input, or the score of a factor that stands before. */
const namesOf = ({ inputs = [], factors = [] }: Definition, before = 0) => [
  ...inputs.map(({ name, title }) => ({ value: name, label: title || name })),
  ...factors.slice(0, before).map(({ key, title }) => ({ value: `factor.${key}`, label: `score of ${title || key}` })),
]

export function DraftParts({ kind, draft, findings, onEdit }: DraftPartsProps) {
  return (
    <Stack gap="md">
      {kind.family === 'rule' ? (
        <RuleParts draft={draft} findings={findings} onEdit={onEdit} />
      ) : (
        <MatrixParts draft={draft} findings={findings} onEdit={onEdit} />
      )}
      <Section title="Inputs">
        <JsonPart
          label="Inputs"
          description="What is asked: name, title, type (enum, integer, decimal, boolean, date, string, list), values or one_of, limits, default."
          value={draft.inputs ?? []}
          pointer="/inputs"
          findings={findings}
          onChange={(inputs) => onEdit((now) => ({ ...now, inputs: inputs as never }))}
        />
      </Section>
    </Stack>
  )
}

type PartsProps = Omit<DraftPartsProps, 'kind'>

function RuleParts({ draft, findings, onEdit }: PartsProps) {
  const table = tableIn(draft.table)
  const faultAt = (pointer: string) => findings.find((finding) => finding.pointer === pointer)?.message
  return (
    <>
      <Section title="When it hits">
        <Stack gap="sm">
          <TableGrid
            label="Ways to hit"
            table={table}
            pointer="/table"
            findings={findings}
            names={namesOf(draft)}
            onEdit={(change) => onEdit((now) => ({ ...now, table: change(tableIn(now.table)) }))}
          />
          <TagsInput
            label="Outputs"
            description="What a row gives beside the hit, by name; type one and press Enter."
            value={table.outputs.map(({ name }) => name)}
            onChange={(names) => onEdit((now) => ({ ...now, table: withOutputs(table, names) }))}
          />
        </Stack>
      </Section>
      <Section title="What a hit means">
        <Stack gap="sm">
          <TextInput
            label="Reason"
            value={draft.reason ?? ''}
            error={faultAt('/reason')}
            onChange={({ currentTarget: { value } }) => onEdit((now) => ({ ...now, reason: value }))}
          />
          <TextInput
            label="Reason code"
            classNames={{ input: 'mono' }}
            value={draft.reason_code ?? ''}
            error={faultAt('/reason_code')}
            onChange={({ currentTarget: { value } }) => onEdit((now) => ({ ...now, reason_code: value }))}
          />
          <TagsInput
            label="Required actions"
            value={[...(draft.required_actions ?? [])]}
            error={faultAt('/required_actions')}
            onChange={(required_actions) => onEdit((now) => ({ ...now, required_actions }))}
          />
        </Stack>
      </Section>
    </>
  )
}

const withOutputs = (table: Table, names: readonly string[]): Table =>
  tableIn({
    ...table,
    outputs: names.map((name) => table.outputs.find((output) => output.name === name) ?? { name }),
    rows: table.rows.map((row) => ({
      ...row,
      then: names.map((name) => row.then[table.outputs.findIndex((output) => output.name === name)] ?? 0),
    })),
  })

/** What a new factor begins with, by its form. */
const beginnings: Readonly<Record<Factor['form'], object>> = {
  table: {
    form: 'table',
    table: { hit_policy: 'unique', columns: [], outputs: [{ name: 'score_bps' }], rows: [] },
  },
  lookup: { form: 'lookup', list_key: '', inputs: [], field: 'score_bps', on_missing: 'fail' },
  score_map: { form: 'score_map', input: '', scores: {}, on_missing: 'fail' },
  presence: { form: 'presence', list_key: '', input: '', present: 10_000, absent: 0 },
}
const forms = Object.keys(beginnings) as Factor['form'][]

/** The list of bands by another key; its fields are the usual ones unless they are said already. */
const withBandsOf = (draft: Definition, list_key: string): Definition => ({
  ...draft,
  bands: { band_field: 'band', from_field: 'from_bps', to_field: 'to_bps', ...draft.bands, list_key },
})

interface ScoreAndBandsProps extends Pick<PartsProps, 'findings' | 'onEdit'> {
  readonly aggregation: Definition['aggregation'] | undefined
  readonly bands: Definition['bands'] | undefined
}

const ScoreAndBands = memo(function ScoreAndBands({ aggregation, bands, findings, onEdit }: ScoreAndBandsProps) {
  return (
    <Section title="Score and bands">
      <Stack gap="sm">
        <Select
          label="How factors make the score"
          allowDeselect={false}
          value={aggregation ?? 'weighted_sum'}
          data={Object.entries(aggregations).map(([value, label]) => ({ value, label }))}
          onChange={(chosen) => chosen && onEdit((now) => ({ ...now, aggregation: chosen }))}
        />
        <TextInput
          label="List of bands"
          classNames={{ input: 'mono' }}
          value={bands?.list_key ?? ''}
          error={findings.find(({ pointer }) => pointer.startsWith('/bands'))?.message}
          onChange={({ currentTarget: { value } }) => onEdit((now) => withBandsOf(now, value))}
        />
      </Stack>
    </Section>
  )
})

function MatrixParts({ draft, findings, onEdit }: PartsProps) {
  const factors = draft.factors ?? []
  function add(form: Factor['form']) {
    const taken = new Set(factors.map(({ key }) => key))
    let number = factors.length + 1
    while (taken.has(`factor-${number}`)) number++
    const factor = { key: `factor-${number}`, title: 'New factor', ...beginnings[form] } as Factor
    onEdit((now) => ({ ...now, factors: [...(now.factors ?? []), factor] }))
  }
  return (
    <>
      <ScoreAndBands aggregation={draft.aggregation} bands={draft.bands} findings={findings} onEdit={onEdit} />
      {factors.map((factor, place) => (
        <FactorPart
          // A factor is known by its place: its key is being typed.
          key={`${place} ${factors.length}`}
          factor={factor}
          names={namesOf(draft, place)}
          findings={findings}
          place={place}
          onEdit={onEdit}
        />
      ))}
      <Group>
        <Menu position="bottom-start">
          <Menu.Target>
            <Button variant="default">Add a factor</Button>
          </Menu.Target>
          <Menu.Dropdown>
            {forms.map((form) => (
              <Menu.Item key={form} onClick={() => add(form)}>
                {spaced(form)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </Group>
      <Section title="Triggers">
        <JsonPart
          label="Triggers"
          description="Conditions that set a least band or require something: key, title, when, floor_band, required_actions, reason_code, reason."
          value={draft.triggers ?? []}
          pointer="/triggers"
          findings={findings}
          onChange={(triggers) => onEdit((now) => ({ ...now, triggers: triggers as never }))}
        />
      </Section>
    </>
  )
}
