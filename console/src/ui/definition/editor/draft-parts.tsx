/** The editable parts of a draft: tables as grids, everything else as forms, each also as JSON. */
import { Button, Group, Menu, Select, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { memo, useMemo } from 'react'
import type { DecisionKind, Finding } from '#console/ui/decision/definition-kind.ts'
import {
  aggregationTexts,
  type Bands,
  type Definition,
  type Factor,
  type Table,
} from '#console/ui/decision/definition-model.ts'
import { Section } from '#console/ui/section.tsx'
import { DraftContext, type Example } from './draft-context.ts'
import { findFreeName } from './draft-edits.ts'
import { FactorPart } from './factor-part.tsx'
import { Faults, getFaultText } from './faults.tsx'
import { FormOrJson } from './form-or-json.tsx'
import { InputsPart } from './inputs-part.tsx'
import { FieldPicker, ListPicker } from './list-pickers.tsx'
import { parseTable } from './table-edits.ts'
import { TableGrid } from './table-grid.tsx'
import { TriggersPart } from './triggers-part.tsx'

interface DraftPartsProps {
  readonly kind: DecisionKind
  readonly draft: Definition
  readonly findings: readonly Finding[]
  /** A stable function, so that other parts are not rendered again on each key press. */
  readonly onEdit: (edit: (draft: Definition) => Definition) => void
  readonly onTry: (inputs: Example) => void
}

/** Columns may be inputs or scores of earlier factors. */
const listColumnNames = ({ inputs = [], factors = [] }: Definition, before = 0) => [
  ...inputs.map(({ name, title }) => ({ value: name, label: title || name })),
  ...factors.slice(0, before).map(({ key, title }) => ({ value: `factor.${key}`, label: `score of ${title || key}` })),
]
const none: readonly never[] = []

export function DraftParts({ kind, draft, findings, onEdit, onTry }: DraftPartsProps) {
  const { inputs = none, bands } = draft
  const surroundings = useMemo(() => ({ inputs, bands, onTry }), [inputs, bands, onTry])
  return (
    <DraftContext value={surroundings}>
      <Stack gap="md">
        <InputsPart inputs={inputs} findings={findings} onEdit={onEdit} />
        {kind.family === 'rule' ? (
          <RuleParts draft={draft} findings={findings} onEdit={onEdit} />
        ) : (
          <MatrixParts draft={draft} findings={findings} onEdit={onEdit} />
        )}
      </Stack>
    </DraftContext>
  )
}

type PartsProps = Omit<DraftPartsProps, 'kind' | 'onTry'>

function RuleParts({ draft, findings, onEdit }: PartsProps) {
  const table = parseTable(draft.table)
  return (
    <>
      <FormOrJson
        title="Decision table"
        value={draft.table ?? table}
        pointer="/table"
        findings={findings}
        onWrite={(written) => onEdit((now) => ({ ...now, table: written as Table }))}
      >
        <Stack gap="sm">
          <TableGrid
            label="Decision table rows"
            table={table}
            pointer="/table"
            findings={findings}
            names={listColumnNames(draft)}
            onEdit={(change) => onEdit((now) => ({ ...now, table: change(parseTable(now.table)) }))}
          />
          <TagsInput
            label="Outputs"
            description="Values a row returns in addition to the hit; type a name and press Enter."
            value={table.outputs.map(({ name }) => name)}
            onChange={(names) => onEdit((now) => ({ ...now, table: withOutputs(parseTable(now.table), names) }))}
          />
        </Stack>
      </FormOrJson>
      <Section title="Result of a hit">
        <Stack gap="sm">
          <TextInput
            label="Reason"
            value={draft.reason ?? ''}
            error={getFaultText(findings, '/reason')}
            onChange={({ currentTarget: { value } }) => onEdit((now) => ({ ...now, reason: value }))}
          />
          <TextInput
            label="Reason code"
            classNames={{ input: 'mono' }}
            value={draft.reason_code ?? ''}
            error={getFaultText(findings, '/reason_code')}
            onChange={({ currentTarget: { value } }) => onEdit((now) => ({ ...now, reason_code: value }))}
          />
          <TagsInput
            label="Required actions"
            value={[...(draft.required_actions ?? [])]}
            error={getFaultText(findings, '/required_actions')}
            onChange={(required_actions) => onEdit((now) => ({ ...now, required_actions }))}
          />
        </Stack>
      </Section>
    </>
  )
}

const withOutputs = (table: Table, names: readonly string[]): Table =>
  parseTable({
    ...table,
    outputs: names.map((name) => table.outputs.find((output) => output.name === name) ?? { name }),
    rows: table.rows.map((row) => ({
      ...row,
      then: names.map((name) => row.then[table.outputs.findIndex((output) => output.name === name)] ?? 0),
    })),
  })

/** Initial values of a new factor by its form. */
const newFactors: Readonly<Record<Factor['form'], object>> = {
  table: {
    form: 'table',
    table: { hit_policy: 'unique', columns: [], outputs: [{ name: 'score_bps' }], rows: [] },
  },
  lookup: { form: 'lookup', list_key: '', inputs: [], field: 'score_bps', on_missing: 'fail' },
  score_map: { form: 'score_map', input: '', scores: {}, on_missing: 'fail' },
  presence: { form: 'presence', list_key: '', input: '', present: 10_000, absent: 0 },
  plugin: { form: 'plugin', plugin_key: '', inputs: [], score_min_bps: 0, score_max_bps: 10_000 },
}
const formTexts: Readonly<Record<Factor['form'], readonly [name: string, about: string]>> = {
  lookup: ['Look-up', 'The score comes from a list entry.'],
  presence: ['Presence', 'The score depends on whether a value is on a list.'],
  score_map: ['Score map', 'Each value of an input has a score.'],
  table: ['Decision table', 'Table rows over several inputs give the score.'],
  plugin: ['Plugin', 'A plugin computes the score from inputs.'],
}

const usualBands: Bands = { list_key: '', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' }
const bandFields = { band_field: 'Band field', from_field: 'From field', to_field: 'To field' } as const

interface ScoreAndBandsProps extends Pick<PartsProps, 'findings' | 'onEdit'> {
  readonly aggregation: Definition['aggregation'] | undefined
  readonly bands: Definition['bands'] | undefined
}

const ScoreAndBands = memo(function ScoreAndBands({ aggregation, bands, findings, onEdit }: ScoreAndBandsProps) {
  const set = (member: keyof Bands, value: string) =>
    onEdit((now) => ({ ...now, bands: { ...usualBands, ...now.bands, [member]: value } }))
  return (
    <Section title="Score and bands">
      <Stack gap="sm" id="at-bands">
        <Faults findings={findings.filter(({ pointer }) => pointer === '' || pointer === '/factors')} />
        <Select
          label="Aggregation of factor scores"
          allowDeselect={false}
          value={aggregation ?? 'weighted_sum'}
          data={Object.entries(aggregationTexts).map(([value, label]) => ({ value, label }))}
          error={getFaultText(findings, '/aggregation')}
          onChange={(chosen) => chosen && onEdit((now) => ({ ...now, aggregation: chosen }))}
        />
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="sm">
          <ListPicker
            label="Band list"
            value={bands?.list_key ?? ''}
            error={getFaultText(findings, '/bands/list_key') ?? getFaultText(findings, '/bands')}
            onChange={(list_key) => set('list_key', list_key)}
          />
          {(Object.entries(bandFields) as [keyof typeof bandFields, string][]).map(([member, label]) => (
            <FieldPicker
              key={member}
              label={label}
              list_key={bands?.list_key ?? ''}
              value={bands?.[member] ?? ''}
              error={getFaultText(findings, `/bands/${member}`)}
              onChange={(field) => set(member, field)}
            />
          ))}
        </SimpleGrid>
      </Stack>
    </Section>
  )
})

function MatrixParts({ draft, findings, onEdit }: PartsProps) {
  const { factors = [], triggers = none, aggregation = 'weighted_sum' } = draft
  const add = (form: Factor['form']) =>
    onEdit(({ factors: now = [], ...rest }) => {
      const taken = now.map(({ key }) => key)
      const factor = { key: findFreeName(taken, 'factor-'), title: 'New factor', ...newFactors[form] } as Factor
      return { ...rest, factors: [...now, factor] }
    })
  return (
    <>
      <ScoreAndBands aggregation={aggregation} bands={draft.bands} findings={findings} onEdit={onEdit} />
      {factors.map((factor, place) => (
        <FactorPart
          // Keyed by position, because the key of a factor is edited.
          key={`${place} ${factors.length}`}
          factor={factor}
          names={listColumnNames(draft, place)}
          findings={findings}
          place={place}
          isLast={place === factors.length - 1}
          isWeighted={aggregation === 'weighted_sum'}
          onEdit={onEdit}
        />
      ))}
      <Group>
        <Menu position="bottom-start">
          <Menu.Target>
            <Button variant="default">Add factor</Button>
          </Menu.Target>
          <Menu.Dropdown>
            {(Object.entries(formTexts) as [Factor['form'], readonly [string, string]][]).map(([form, words]) => (
              <Menu.Item key={form} onClick={() => add(form)}>
                {words[0]}
                <Text size="xs" c="dimmed">
                  {words[1]}
                </Text>
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </Group>
      <TriggersPart
        triggers={triggers}
        names={[...listColumnNames(draft, factors.length), { value: 'score', label: 'the whole score' }]}
        findings={findings}
        onEdit={onEdit}
      />
    </>
  )
}
